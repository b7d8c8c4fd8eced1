import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeOptions } from "../support/node-options.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the package, the image and the bin script start node with the same options", () => {
  const packaged = /^set -- "\$here\/node" (.*) "\$here\/\.\.\/dist\/main\.js" "\$@"$/m.exec(
    read("packaging/fleetgate.sh"),
  )?.[1];
  const entry: unknown = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "null");
  expect(nodeOptions).toEqual([
    "--no-memory-reducer",
    "--max-semi-space-size=32",
    "--no-allocation-site-pretenuring",
  ]);
  expect(packaged?.split(" ")).toEqual(nodeOptions);
  expect(entry).toEqual(["/opt/fleetgate/bin/fleetgate"]);
});

test("the unit starts what the package installs", () => {
  expect(read("systemd/fleetgate.service")).toMatch(
    /^ExecStart=\/usr\/bin\/fleetgate run --config \/etc\/fleetgate\/fleetgate\.yaml$/m,
  );
});

test("the unit leaves no core file, which would hold every secret, and the page says how others do", () => {
  expect(read("systemd/fleetgate.service").match(/^LimitCORE=.*$/gm)).toEqual(["LimitCORE=0"]);
  const page = read("docs/install.md");
  for (const way of ["LimitCORE=0", "--ulimit core=0", "ulimit -c 0"]) expect(page).toContain(`\`${way}\``);
  expect(page).toMatch(/^ {4}docker run .*--ulimit core=0 /m);
});
