import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { upgradeTrial } from "../../src/cli/run.ts";
import { newFolder } from "./program.ts";

it("a trial lasts until its link is gone, and is then over for good", () => {
  const link = join(newFolder(), "program");
  symlinkSync("nowhere", link);
  const trial = upgradeTrial({ FLEETGATE_TRIAL: link });
  expect(trial.isOn()).toBe(true);
  expect(trial.health()).toMatchObject({ upgrade: { state: "degraded" } });
  rmSync(link);
  expect(trial.isOn()).toBe(false);
  symlinkSync("nowhere", link);
  expect(trial.isOn()).toBe(false);
  expect(trial.health()).toEqual({});
  expect(upgradeTrial({}).isOn()).toBe(false);
});
