import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const unit = "systemd/fleetgate.service";
const template = "systemd/fleetgate@.service";
/** What names the gateway, and its instance. */
const names = [
  ["Description=Fleetgate,", "Description=Fleetgate %i,"],
  ["/etc/fleetgate/fleetgate.yaml", "/etc/fleetgate/%i.yaml"],
  ["SyslogIdentifier=fleetgate\n", "SyslogIdentifier=fleetgate@%i\n"],
  ["StateDirectory=fleetgate\n", "StateDirectory=fleetgate-instances/%i\n"],
] as const;

/** Without comments. */
const read = (path: string) => readFileSync(path, "utf8").replace(/^#.*\n/gm, "");

test("the template is the unit, but for what names the instance", () => {
  const expected = names.reduce((text, [of, instance]) => text.replaceAll(of, instance), read(unit));
  expect(read(template)).toBe(expected);
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd)
  process.stderr.write("systemd-analyze is missing: the exposure of the units is not measured\n");

test.runIf(hasSystemd).each([unit, template])("%s is exposed by 1.1 at most", (path) => {
  const { stdout } = spawnSync("systemd-analyze", ["security", "--offline=true", path], { encoding: "utf8" });
  const [, exposure] = /exposure level .*: ([\d.]+) /.exec(stdout) ?? [];
  expect(Number(exposure), stdout).toBeLessThanOrEqual(1.1);
});
