import { describe, expect, it } from "vitest";
import { createRunningTime } from "../../src/platform/running-time.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { type CommandsHarness, createHarness, mission, missions, OK, plc } from "./commands-harness.ts";
import { createLossyDisk, type LossyDisk, syncing } from "./lossy-store.ts";

const limits = { keepMs: 3_600_000, keepCount: 1_000 };

/** A dispatcher on a disk that syncs at once, and one that starts after the first was killed. */
async function killed(
  before: (harness: CommandsHarness, disk: LossyDisk) => Promise<void>,
  isLinkUp = true,
): Promise<CommandsHarness> {
  const disk = createLossyDisk();
  const clock = createManualClock();
  const first = await createHarness({
    clock,
    journal: openJournalOn(syncing(disk), limits, noRunningTime),
  });
  await before(first, disk);
  disk.crash();
  return createHarness({
    clock,
    journal: openJournalOn(syncing(disk), limits, noRunningTime),
    isLinkUp,
  });
}

describe("after a crash", () => {
  it("what was only accepted has expired, and is never sent", async () => {
    const harness = await killed(async (first) => {
      await first.send("Go", { robot: "AMR01", to: "A" }, { requestId: "sent" });
      await first.send("Go", { robot: "AMR01", to: "B" }, { requestId: "waits" });
    });
    const again = await harness.send("Go", { robot: "AMR01", to: "B" }, { requestId: "waits" });
    expect(again.outcome).toMatchObject({
      outcome: "expired",
      code: "EXPIRED",
      message: "the gateway stopped before it was sent, and a later start sends nothing of an earlier one",
      duplicate: true,
    });
    await harness.clock.settle(20_000);
    expect(harness.calls).toEqual([]);
  });

  it("what was sent is looked into before anything else moves on that robot", async () => {
    const harness = await killed(async (first) => {
      await first.see(missions("AMR01", first.clock.nowMs() - 1, mission("old", "A")));
      await first.send("Go", { robot: "AMR01", to: "A" }, { requestId: "sent" });
    });
    const again = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "sent" });
    const next = await harness.send("Go", { robot: "AMR01", to: "B" });
    const other = await harness.send("Go", { robot: "AMR02", to: "B" });
    expect(other.stages).toEqual(["accepted", "sent"]);
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("old", "A"), mission("new", "A")));
    await harness.clock.settle(999);
    expect(next.stages).toEqual(["accepted"]);
    await harness.clock.settle(1);
    expect(again.outcome).toMatchObject({
      outcome: "probably_succeeded",
      missionId: "new",
      duplicate: true,
    });
    expect(next.stages).toEqual(["accepted", "sent"]);
    expect(harness.calls).toHaveLength(2);
  });

  it("without evidence within 15 s it is unknown, for good, and was sent until then", async () => {
    const harness = await killed(async (first) => {
      await first.send("Go", { robot: "AMR01", to: "A" }, { requestId: "sent" });
    });
    const again = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "sent" });
    const recalled: string[] = [];
    void harness.dispatcher.recall(plc, "sent", (stage) => recalled.push(stage));
    expect([again.stages, recalled]).toEqual([
      ["accepted", "sent"],
      ["accepted", "sent"],
    ]);
    await harness.clock.settle(14_999);
    expect(again.outcome).toBeNull();
    await harness.clock.settle(1);
    expect(again.outcome).toMatchObject({
      outcome: "unknown",
      code: "OUTCOME_UNKNOWN",
      message: "the gateway stopped before the service's answer was known; the robot may have acted",
      retrySafe: false,
    });
  });

  it("a final outcome is the same as it was told", async () => {
    const harness = await killed(async (first) => {
      await first.send("Go", { robot: "AMR01", to: "A" }, { requestId: "done" });
      await first.call(0).answer({ kind: "ok", responseJson: '{"mission_id":"m"}', missionId: "m" });
    });
    const again = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "done" });
    expect(again.outcome).toMatchObject({ outcome: "succeeded", missionId: "m", duplicate: true });
    const other = await harness.send("Go", { robot: "AMR01", to: "B" }, { requestId: "done" });
    expect(other.outcome?.code).toBe("IDENTITY_REUSED");
    expect(harness.calls).toEqual([]);
  });

  it("a stop is not kept back by what is being looked into", async () => {
    const harness = await killed(async (first) => {
      await first.send("Go", { robot: "AMR01", to: "A" });
    });
    const stop = await harness.send("Halt", { robot: "AMR01" }, { requestId: "halt" });
    await harness.call(0).answer(OK);
    expect(stop.outcome?.outcome).toBe("succeeded");
  });
});

describe("the sync", () => {
  it("comes before the call: nothing leaves until the record is on the disk", async () => {
    const disk = createLossyDisk();
    const harness = await createHarness({ journal: openJournalOn(disk.open(), limits, noRunningTime) });
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "x" });
    await harness.clock.settle(999);
    expect(harness.calls).toEqual([]);
    expect(sent.stages).toEqual([]);
    disk.sync();
    await harness.clock.settle(0);
    expect(disk.durable("commands/opcua:plc/x")).toMatchObject({ sentAtMs: expect.any(Number) });
    expect(sent.stages).toEqual(["accepted", "sent"]);
  });

  it("comes before the outcome is told: it is the same after a crash", async () => {
    const disk = createLossyDisk();
    const harness = await createHarness({ journal: openJournalOn(disk.open(), limits, noRunningTime) });
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "x" });
    disk.sync();
    await harness.clock.settle(0);
    await harness.call(0).answer(OK);
    expect(sent.outcome).toBeNull();
    disk.sync();
    await harness.clock.settle(0);
    expect(sent.outcome?.outcome).toBe("succeeded");
  });

  describe("with the service away at first", () => {
    const sent = async (first: CommandsHarness) => {
      await first.see(missions("AMR01", first.clock.nowMs() - 1, mission("old", "A")));
      await first.send("Go", { robot: "AMR01", to: "A" }, { requestId: "sent" });
    };
    const again = (harness: CommandsHarness) =>
      harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "sent" });

    it("what was sent is looked into from when the service is there", async () => {
      const harness = await killed(sent, false);
      const asked = await again(harness);
      await harness.clock.settle(40_000);
      expect(asked.outcome).toBeNull();
      harness.dispatcher.fleetLink(false);
      harness.dispatcher.fleetLink(true);
      await harness.see(missions("AMR01", harness.clock.nowMs(), mission("old", "A"), mission("new", "A")));
      await harness.clock.settle(1_000);
      expect(asked.outcome).toMatchObject({ outcome: "probably_succeeded", missionId: "new" });
    });

    it("its outcome is unknown when the service does not come, and stops pass meanwhile", async () => {
      const harness = await killed(sent, false);
      const asked = await again(harness);
      const stop = await harness.send("Halt", { robot: "AMR01" });
      expect(stop.stages).toEqual(["accepted", "sent"]);
      await harness.clock.settle(74_999);
      expect(asked.outcome).toBeNull();
      await harness.clock.settle(1);
      expect(asked.outcome).toMatchObject({ outcome: "unknown" });
    });
  });
});

describe("the events of commands that a crash may have lost", () => {
  async function ended(sinceMs?: number) {
    const disk = createLossyDisk();
    const clock = createManualClock();
    const time = createRunningTime(0, clock);
    const first = await createHarness({ clock, journal: openJournalOn(syncing(disk), limits, time) });
    await first.send("Go", { robot: "AMR01", to: "A" }, { requestId: "early" });
    await first.call(0).answer(OK);
    await clock.settle(10_000);
    await first.send("Go", { robot: "AMR01", to: "B" }, { requestId: "late" });
    await first.call(1).answer(OK);
    await first.send("Go", { robot: "nobody", to: "B" }, { requestId: "refused" });
    disk.crash();
    const more = sinceMs === undefined ? {} : { eventsLostSinceMs: time.totalMs() - sinceMs };
    // How the wall clock is set says nothing of what came last.
    clock.jump(-8 * 86_400_000);
    const journal = openJournalOn(syncing(disk), limits, createRunningTime(0, clock));
    const second = await createHarness({ clock, journal, ...more });
    return { first: first.events, second: second.events };
  }

  it("are published again as they were, with the same ids", async () => {
    const { first, second } = await ended(2_000);
    expect(second.length).toBeGreaterThan(0);
    expect(second).toEqual(first.filter((event) => second.some(({ eventId }) => eventId === event.eventId)));
    expect(second).toContainEqual(expect.objectContaining({ from: "sent", robotId: "AMR01" }));
    expect(second).not.toContainEqual(
      expect.objectContaining({ command: expect.objectContaining({ requestId: "early" }) }),
    );
  });

  it("are not published where none may be lost", async () => {
    const { second } = await ended();
    expect(second).toEqual([]);
  });
});
