import { expect, it } from "vitest";
import { openDurableJournal } from "../../src/commands/journal/durable-journal.ts";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";
import { createRig, LOST, mission, missions } from "./rig.ts";

const named = made("m1");
const refused = { kind: "refused", code: "FAILED_PRECONDITION", message: "busy" } as const;

it("a mission is expected from when its call leaves until the answer names it", async () => {
  const rig = await createRig();
  await rig.send("Look", { robot: "AMR01" });
  expect(rig.dispatcher.expectsMission("AMR01")).toBe(false);
  await rig.send("Go", { robot: "AMR01", to: "A" });
  expect(rig.dispatcher.expectsMission("AMR01")).toBe(true);
  expect(rig.dispatcher.expectsMission("AMR02")).toBe(false);
  expect(rig.missionsKnown).toEqual([]);
  await rig.call(1).answer(named);
  expect(rig.dispatcher.expectsMission("AMR01")).toBe(false);
  expect(rig.dispatcher.commandOf("m1")).toBe("opcua:plc/r2");
  expect(rig.missionsKnown).toEqual(["AMR01"]);
});

it("its name is known before the command's own event is told", async () => {
  const rig = await createRig();
  await rig.send("Go", { robot: "AMR01", to: "A" });
  await rig.call(0).answer(named);
  expect(rig.story).toEqual(["known AMR01", "command opcua:plc/r1"]);
});

it("none is expected any more when the command was refused, or its ending stays unknown", async () => {
  const rig = await createRig();
  await rig.send("Go", { robot: "AMR01", to: "A" });
  await rig.call(0).answer(refused);
  expect(rig.dispatcher.expectsMission("AMR01")).toBe(false);
  await rig.send("Go", { robot: "AMR01", to: "A" });
  await rig.call(1).answer(LOST);
  expect(rig.dispatcher.expectsMission("AMR01")).toBe(true);
  await rig.clock.settle(15_000);
  expect(rig.dispatcher.expectsMission("AMR01")).toBe(false);
  expect(rig.missionsKnown).toEqual(["AMR01", "AMR01"]);
});

it("a mission is still its command's after a restart, each of a workflow's too, and an inferred one", async () => {
  const limits = { keepMs: 3_600_000, keepCount: 1_000 };
  const disk = createLossyDisk();
  const clock = createManualClock();
  const first = await createRig({ clock, journal: openDurableJournal(syncing(disk), limits) });
  await first.send("Go", { robot: "AMR01", to: "A" });
  await first.call(0).answer(made("m1", "m2", "m3"));
  await first.send("Go", { robot: "AMR02", to: "A" });
  await first.call(1).answer(made("m4"));
  await first.see(missions("AMR01", clock.nowMs()));
  await first.send("Go", { robot: "AMR01", to: "B" });
  await first.call(2).answer(LOST);
  await first.see(missions("AMR01", clock.nowMs(), mission("m5", "B")));
  await first.clock.settle(2_000);
  const ids = ["m1", "m2", "m3", "m4", "m5", "m6"];
  const makers = ["r1", "r1", "r1", "r2", "r3"].map((id) => `opcua:plc/${id}`);
  expect(ids.map(first.dispatcher.commandOf)).toEqual([...makers, null]);
  disk.crash();
  const next = await createRig({ clock, journal: openDurableJournal(syncing(disk), limits) });
  expect(ids.map(next.dispatcher.commandOf)).toEqual([...makers, null]);
});

/** What the service answers when a command has made these. */
function made(...missionIds: readonly string[]): CallEnding {
  return { kind: "ok", responseJson: "{}", missionId: missionIds[0] ?? null, missionIds };
}
