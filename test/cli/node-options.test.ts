import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the unit, the image and the bin script start node with the same options", () => {
  const unit = /^ExecStart=\S*\/node (.*) \/opt\/fleetgate\/dist\/main\.js /m.exec(
    read("systemd/fleetgate.service"),
  )?.[1];
  const script = /^#!\/usr\/bin\/env -S node (.*)$/m.exec(read("src/main.ts"))?.[1];
  const entry: unknown = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "null");
  expect(unit?.split(" ")).toEqual([
    "--no-memory-reducer",
    "--max-semi-space-size=32",
    "--no-allocation-site-pretenuring",
  ]);
  expect(script).toBe(unit);
  expect(entry).toEqual(["node", ...(unit ?? "").split(" "), "/opt/fleetgate/dist/main.js"]);
});

test("the unit leaves no core file, which would hold every secret, and the page says how others do", () => {
  expect(read("systemd/fleetgate.service").match(/^LimitCORE=.*$/gm)).toEqual(["LimitCORE=0"]);
  const page = read("docs/install.md");
  for (const way of ["LimitCORE=0", "--ulimit core=0", "ulimit -c 0"]) expect(page).toContain(`\`${way}\``);
  expect(page).toMatch(/^ {4}docker run .*--ulimit core=0 /m);
});
