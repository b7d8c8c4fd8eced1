import { expect, it } from "vitest";
import type { Mission } from "../../src/domain/mission.ts";
import { createRig, mission, missions, OK, type Rig } from "./rig.ts";

/** Shows one more mission of AMR01, and lets the time pass after which it counts as somebody else's. */
async function shown(rig: Rig, list: Mission[], made: Mission): Promise<void> {
  list.push(made);
  await rig.see(missions("AMR01", rig.clock.nowMs(), ...list));
  await rig.clock.settle(31_000);
}

it("raises an alarm at the third mission that no command here has made, and ends it when they cease", async () => {
  const rig = await createRig();
  const list: Mission[] = [];
  const alarms = () => rig.notices.filter(({ kind }) => kind === "alarm");
  await rig.see(missions("AMR01", rig.clock.nowMs()));
  await shown(rig, list, mission("m1", "A"));
  await shown(rig, list, mission("m2", "A"));
  expect(alarms()).toEqual([]);
  await shown(rig, list, mission("m3", "A"));
  expect(alarms()).toMatchObject([
    {
      robotId: "AMR01",
      code: "FOREIGN_MISSIONS",
      active: true,
      text: "another client of the fleet service sends missions to AMR01: 3 within 10 minutes that no command of this gateway has made",
    },
  ]);
  await shown(rig, list, mission("m4", "A"));
  expect(alarms()).toHaveLength(1);
  expect(rig.dispatcher.health().figures).toMatchObject({ foreignMissions: 4, foreignAlarms: 1 });
  await rig.clock.settle(601_000);
  expect(alarms().slice(1)).toMatchObject([
    {
      code: "FOREIGN_MISSIONS",
      active: false,
      text: "no other client has sent a mission to AMR01 for 10 minutes",
    },
  ]);
  expect(rig.dispatcher.health().figures).toMatchObject({ foreignAlarms: 0 });
});

it("raises none for missions of our own commands, of the touchscreen, or that were there before", async () => {
  const rig = await createRig();
  const list = [mission("old1", "A"), mission("old2", "A"), mission("old3", "A")];
  await rig.see(missions("AMR01", rig.clock.nowMs(), ...list));
  for (const place of [0, 1, 2]) {
    await rig.send("Go", { robot: "AMR01", to: "A" });
    await rig.call(place).answer({ ...OK, kind: "ok", responseJson: "{}", missionId: `own${place}` });
    await shown(rig, list, mission(`own${place}`, "A"));
    await shown(rig, list, mission(`touched${place}`, "A", { owner: "touchscreen" }));
  }
  expect(rig.notices.filter(({ kind }) => kind === "alarm")).toEqual([]);
  expect(rig.dispatcher.health().figures).toMatchObject({ foreignMissions: 0 });
});

it("knows every mission of a workflow as its own", async () => {
  const rig = await createRig();
  const list: Mission[] = [];
  await rig.see(missions("AMR01", rig.clock.nowMs()));
  await rig.send("Go", { robot: "AMR01", to: "A" }, { requestId: "flow" });
  const missionIds = ["w1", "w2"];
  await rig.call(0).answer({ kind: "ok", responseJson: "{}", missionId: "w1", missionIds });
  for (const missionId of missionIds) await shown(rig, list, mission(missionId, "A"));
  expect(missionIds.map(rig.makerOf)).toEqual(["opcua:plc/flow", "opcua:plc/flow"]);
  expect(rig.dispatcher.health().figures).toMatchObject({ foreignMissions: 0 });
});
