import { expect, it } from "vitest";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { createHarness, OK, sharedCommands } from "./commands-harness.ts";

it("EXPIRED: a handover ends for good what was accepted and not sent, and waits for what was sent", async () => {
  let isLeading = true;
  const shared = sharedCommands({ isLeading: () => isLeading });
  const harness = await createHarness({ shared });
  const go = { robot: "AMR01", to: "A" } as const;
  const sent = await harness.send("Go", go, { requestId: "sent" });
  const waits = await harness.send("Go", go, { requestId: "waits" });
  isLeading = false;
  const late = await harness.send("Go", go, { requestId: "late" });
  expect(late.outcome).toMatchObject({ outcome: "refused", code: "STANDBY", duplicate: false });
  const settled = harness.dispatcher.handover.settle(1_000);
  await harness.clock.settle(0);
  expect(waits.outcome).toMatchObject({
    ...{ outcome: "expired", code: "EXPIRED", retrySafe: true },
    message: "the gateway handed over to its other box before it was sent",
  });
  await harness.call(0).answer(OK);
  await harness.clock.advance(100);
  expect(await settled).toEqual({ notSent: 1, underWay: 0 });
  expect(sent.outcome).toMatchObject({ outcome: "succeeded" });
  const again = await harness.send("Go", go, { requestId: "waits" });
  expect(again.outcome).toMatchObject({ outcome: "expired", duplicate: true });
});

it("STANDBY: is not safe to repeat under a new id, for the member that leads may have the command in hand", async () => {
  const memory = createMemoryJournal({ keepMs: 3_600_000, keepCount: 1_000 });
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  // The leader has no connection to etcd for a moment.
  const journal: Journal = { ...memory, write: (record) => answered.then(() => memory.write(record)) };
  const leader = await createHarness({ journal, shared: sharedCommands() });
  const standby = await createHarness({ shared: sharedCommands({ isLeading: () => false }) });
  const go = ["Go", { robot: "AMR01", to: "A" }, { requestId: "same" }] as const;
  await leader.send(...go);
  const told = await standby.send(...go);
  answer();
  await leader.clock.settle(0);
  expect(leader.calls).toHaveLength(1);
  expect(told.outcome).toMatchObject({
    ...{ outcome: "refused", code: "STANDBY", retrySafe: false },
    message:
      "this member of the cluster stands by, and has not sent it: ask the one that leads with the same id",
  });
});

it("STANDBY: is unknown while etcd does not answer, for another member may have sent the same id", async () => {
  const shared = sharedCommands({ isLeading: () => false, isRecorded: async () => null });
  const standby = await createHarness({ shared });
  const told = await standby.send("Go", { robot: "AMR01", to: "A" }, { requestId: "same" });
  await standby.clock.settle(0);
  expect(told.outcome).toMatchObject({ outcome: "unknown", code: "STANDBY", retrySafe: false });
  expect(told.outcome?.message).toContain("etcd does not answer, so this member of the cluster cannot tell");
});
