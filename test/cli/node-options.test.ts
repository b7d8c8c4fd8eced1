import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { allocatorOptions, nodeOptions } from "../support/node-options.ts";

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

test.each([
  ["the launcher's own", {}, allocatorOptions],
  ["the plant's, where it has set some", { MALLOC_TRIM_THRESHOLD_: "1" }, { MALLOC_TRIM_THRESHOLD_: "1" }],
])("node is started with the allocator's options: %s", async (_whose, environment, wanted) => {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-launcher-"));
  const launcher = join(folder, "fleetgate");
  await copyFile(new URL("../../packaging/fleetgate.sh", import.meta.url), launcher);
  await writeFile(join(folder, "node"), "#!/bin/sh\nenv\n", { mode: 0o755 });
  const { stdout } = await promisify(execFile)("sh", [launcher], {
    env: { PATH: "/usr/bin:/bin", ...environment },
  });
  await rm(folder, { recursive: true });
  const set = stdout.split("\n").filter((line) => line.startsWith("MALLOC_"));
  expect(Object.keys(wanted)).toEqual(["MALLOC_TRIM_THRESHOLD_"]);
  expect(set).toEqual(Object.entries(wanted).map(([name, value]) => `${name}=${value}`));
});

test("the unit starts what the package installs", () => {
  expect(read("systemd/fleetgate.service")).toMatch(
    /^ExecStart=\/usr\/bin\/fleetgate run --config \/etc\/fleetgate\/fleetgate\.yaml$/m,
  );
});

test("the unit leaves no core file, which would hold every secret, and the page says how others do", () => {
  expect(read("systemd/fleetgate.service").match(/^LimitCORE=.*$/gm)).toEqual(["LimitCORE=0"]);
  const page = read("docs/security-and-certificates.md");
  for (const way of ["LimitCORE=0", "--ulimit core=0", "ulimit -c 0"]) expect(page).toContain(`\`${way}\``);
  expect(read("docs/install.md")).toMatch(/^ {4}docker run .*--ulimit core=0 /m);
});
