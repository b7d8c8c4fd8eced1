import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { unitState } from "../../src/cli/status/command.ts";
import { endPrograms, newFolder } from "./program.ts";

afterEach(endPrograms);

/** What a systemctl says of fleetgate.service. */
function systemctl(properties: string): string {
  const path = join(newFolder(), "systemctl");
  writeFileSync(path, `#!/bin/sh\n[ "$2" = "fleetgate.service" ] || exit 1\nprintf '${properties}'\n`);
  chmodSync(path, 0o755);
  return path;
}

const usual = { config: "/etc/fleetgate/fleetgate.yaml" };
const failed = (status: number) =>
  `LoadState=loaded\\nActiveState=failed\\nResult=exit-code\\nExecMainStatus=${status}\\n`;

it.each([
  ["LoadState=loaded\\nActiveState=inactive\\n", "is stopped: sudo systemctl start fleetgate.service"],
  [failed(78), "is failed: the configuration has mistakes, which sudo fleetgate check"],
  [failed(65), "is failed: a newer program has written the data folder"],
  [failed(1), "is failed: exit code 1; sudo journalctl -u fleetgate.service -n 20 shows why"],
])("the unit says why no gateway answers: %s", async (properties, text) => {
  expect(await unitState(usual, systemctl(properties))).toContain(`fleetgate.service ${text}`);
});

it.each([
  ["a unit that runs", usual, "LoadState=loaded\\nActiveState=active\\n"],
  ["no such unit", usual, "LoadState=not-found\\nActiveState=inactive\\n"],
  ["a socket that was named", { ...usual, socket: "/run/x.sock" }, failed(78)],
  ["another gateway's configuration", { config: "/srv/plant.yaml" }, failed(78)],
])("nothing is said of %s", async (_what, location, properties) => {
  expect(await unitState(location, systemctl(properties))).toBeNull();
});

it("nothing is said without systemd", async () => {
  expect(await unitState(usual, "/nowhere/systemctl")).toBeNull();
});
