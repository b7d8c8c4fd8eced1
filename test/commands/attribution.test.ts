import { expect, it } from "vitest";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { createHarness, LOST, mission, missions } from "./commands-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";
import { missionEvent } from "./maker-of.ts";

const named = made("m1");
const refused = { kind: "refused", code: "FAILED_PRECONDITION", message: "busy" } as const;

it("the event of a new mission waits from when a call leaves until its answer names the mission", async () => {
  const harness = await createHarness();
  await harness.send("Look", { robot: "AMR01" });
  await harness.happens(missionEvent("m0", "AMR01"));
  expect(harness.attributed).toEqual(["m0=null"]);
  await harness.send("Go", { robot: "AMR01", to: "A" });
  await harness.happens(missionEvent("m1", "AMR01"), missionEvent("m2", "AMR02"));
  expect(harness.attributed).toEqual(["m0=null", "m2=null"]);
  await harness.call(1).answer(named);
  expect(harness.attributed).toEqual(["m0=null", "m2=null", "m1=opcua:plc/r2"]);
  await harness.happens(missionEvent("m3", "AMR01"));
  expect(harness.attributed.at(-1)).toBe("m3=null");
});

it("a mission's event is told before that of its command", async () => {
  const harness = await createHarness();
  await harness.send("Go", { robot: "AMR01", to: "A" });
  await harness.happens(missionEvent("m1", "AMR01"));
  await harness.call(0).answer(named);
  expect(harness.events.map(({ kind }) => kind)).toEqual(["mission", "command"]);
});

it("no event waits any more when the command was refused, or its ending stays unknown", async () => {
  const harness = await createHarness();
  await harness.send("Go", { robot: "AMR01", to: "A" });
  await harness.call(0).answer(refused);
  await harness.happens(missionEvent("m1", "AMR01"));
  expect(harness.attributed).toEqual(["m1=null"]);
  await harness.send("Go", { robot: "AMR01", to: "A" });
  await harness.call(1).answer(LOST);
  await harness.clock.settle(14_000);
  await harness.happens(missionEvent("m2", "AMR01"));
  await harness.clock.settle(999);
  expect(harness.attributed).toEqual(["m1=null"]);
  await harness.clock.settle(1);
  expect(harness.attributed).toEqual(["m1=null", "m2=null"]);
});

it("a mission is still its command's after a restart, each of a workflow's too, and an inferred one", async () => {
  const limits = { keepMs: 3_600_000, keepCount: 1_000 };
  const disk = createLossyDisk();
  const clock = createManualClock();
  const first = await createHarness({
    clock,
    journal: openJournalOn(syncing(disk), limits, noRunningTime),
  });
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
  expect(ids.map(first.makerOf)).toEqual([...makers, null]);
  disk.crash();
  const next = await createHarness({
    clock,
    journal: openJournalOn(syncing(disk), limits, noRunningTime),
  });
  expect(ids.map(next.makerOf)).toEqual([...makers, null]);
});

/** What the service answers when a command has made these. */
function made(...missionIds: readonly string[]): CallEnding {
  return { kind: "ok", responseJson: "{}", missionId: missionIds[0] ?? null, missionIds };
}
