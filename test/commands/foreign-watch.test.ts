import { expect, it } from "vitest";
import type { Mission } from "../../src/domain/mission.ts";
import {
  type CommandsHarness,
  createHarness,
  mission,
  missions,
  OK,
  sharedCommands,
} from "./commands-harness.ts";

/** Shows one more mission of AMR01, and lets the time pass after which it counts as somebody else's. */
async function shown(harness: CommandsHarness, list: Mission[], made: Mission): Promise<void> {
  list.push(made);
  await harness.see(missions("AMR01", harness.clock.nowMs(), ...list));
  await harness.clock.settle(31_000);
}

it("raises an alarm at the third mission that no command here has made, and ends it when they cease", async () => {
  const harness = await createHarness();
  const list: Mission[] = [];
  const { alarms } = harness;
  await harness.see(missions("AMR01", harness.clock.nowMs()));
  await shown(harness, list, mission("m1", "A"));
  await shown(harness, list, mission("m2", "A"));
  expect(alarms()).toEqual([]);
  await shown(harness, list, mission("m3", "A"));
  expect(alarms()).toMatchObject([
    {
      source: { kind: "robot", robotId: "AMR01" },
      code: "FOREIGN_MISSIONS",
      isActive: true,
      text: "another client of the fleet service sends missions to AMR01: 3 within 10 minutes that no command of this gateway has made",
    },
  ]);
  await shown(harness, list, mission("m4", "A"));
  expect(alarms()).toHaveLength(1);
  expect(harness.dispatcher.health().figures).toMatchObject({ foreignMissions: 4, foreignAlarms: 1 });
  await harness.clock.settle(601_000);
  expect(alarms()).toMatchObject([{ code: "FOREIGN_MISSIONS", isActive: false }]);
  expect(harness.dispatcher.health().figures).toMatchObject({ foreignAlarms: 0 });
});

it("raises none for missions of our own commands, of the touchscreen, or that were there before", async () => {
  const harness = await createHarness();
  const list = [mission("old1", "A"), mission("old2", "A"), mission("old3", "A")];
  await harness.see(missions("AMR01", harness.clock.nowMs(), ...list));
  for (const place of [0, 1, 2]) {
    await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.call(place).answer({ ...OK, kind: "ok", responseJson: "{}", missionId: `own${place}` });
    await shown(harness, list, mission(`own${place}`, "A"));
    await shown(harness, list, mission(`touched${place}`, "A", { owner: "touchscreen" }));
  }
  expect(harness.alarms()).toEqual([]);
  expect(harness.dispatcher.health().figures).toMatchObject({ foreignMissions: 0 });
});

it("knows every mission of a workflow as its own", async () => {
  const harness = await createHarness();
  const list: Mission[] = [];
  await harness.see(missions("AMR01", harness.clock.nowMs()));
  await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "flow" });
  const missionIds = ["w1", "w2"];
  await harness.call(0).answer({ kind: "ok", responseJson: "{}", missionId: "w1", missionIds });
  for (const missionId of missionIds) await shown(harness, list, mission(missionId, "A"));
  expect(missionIds.map(harness.makerOf)).toEqual(["opcua:plc/flow", "opcua:plc/flow"]);
  expect(harness.dispatcher.health().figures).toMatchObject({ foreignMissions: 0 });
});

it("raises none for missions that the leader's commands have made, while this member stands by", async () => {
  let isLeading = false;
  const harness = await createHarness({
    shared: sharedCommands({ isLeading: () => isLeading }),
  });
  const list: Mission[] = [];
  await harness.see(missions("AMR01", harness.clock.nowMs()));
  for (const id of ["m1", "m2", "m3"]) await shown(harness, list, mission(id, "A"));
  expect(harness.alarms()).toEqual([]);
  isLeading = true;
  for (const id of ["m4", "m5", "m6"]) await shown(harness, list, mission(id, "A"));
  expect(harness.alarms()).toMatchObject([{ code: "FOREIGN_MISSIONS", isActive: true }]);
});
