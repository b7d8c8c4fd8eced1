import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { missions, plc } from "./commands-harness.ts";
import { eva, hold, newRig, running, scada, sent } from "./holds-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";

const limits = { keepMs: 3_600_000, keepCount: 1_000 };

describe("a hold and the disk", () => {
  it("outlives kill -9, with its user, and stops what is seen running afterwards", async () => {
    const disk = createLossyDisk();
    const clock = createManualClock();
    const first = await newRig({ clock, journal: openJournalOn(syncing(disk), limits, noRunningTime) });
    await hold(first, "AMR01");
    await hold(first, "AMR01", true, scada);
    await hold(first, null, true, eva);
    await hold(first, "AMR01", false, scada);
    await clock.settle(0);
    disk.crash();
    const next = await newRig({ clock, journal: openJournalOn(syncing(disk), limits, noRunningTime) });
    expect(next.dispatcher.holds.holdState("AMR01").by).toEqual(["opcua:plc", "opcua:eva (all)"]);
    expect(next.events).toEqual([]);
    await next.see(missions("AMR01", 1, running));
    expect(sent(next)).toEqual(["Halt m1"]);
    expect(await hold(next, "AMR01", false)).toBeNull();
    expect(await hold(next, null, false, eva)).toBeNull();
    await clock.settle(0);
    const last = await newRig({ clock, journal: openJournalOn(syncing(disk), limits, noRunningTime) });
    expect(last.dispatcher.holds.holdState("AMR01").isHeld).toBe(false);
  });

  it("acts though the disk hangs, and is stored when the disk goes on", async () => {
    const stored: Array<() => void> = [];
    const journal: Journal = {
      ...createMemoryJournal(limits),
      write: () => new Promise(() => {}),
      writeHold: () => new Promise((resolve) => stored.push(resolve)),
    };
    const harness = await newRig({ journal });
    await harness.see(missions("AMR01", 1, running));
    await hold(harness, "AMR01");
    expect(harness.dispatcher.holds.holdState("AMR01")).toMatchObject({ isHeld: true, isStored: false });
    expect(harness.dispatcher.holds.holdState("AMR02")).toMatchObject({ isHeld: false, isStored: true });
    await harness.clock.settle(50);
    expect(sent(harness)).toEqual(["Halt m1"]);
    await harness.send("Go", { robot: "AMR01", to: "A" });
    expect(harness.calls).toHaveLength(1);
    // One write at a time, and then the newest.
    for (const isHeld of [false, true, false]) await hold(harness, "AMR01", isHeld);
    // A second, after which the same hold is lifted again.
    await harness.clock.settle(1_000);
    expect(stored).toHaveLength(1);
    stored[0]?.();
    await harness.clock.settle(0);
    expect(harness.dispatcher.holds.holdState("AMR01").isStored).toBe(false);
    expect(stored).toHaveLength(2);
    stored[1]?.();
    await harness.clock.settle(0);
    expect(harness.dispatcher.holds.holdState("AMR01")).toMatchObject({ isHeld: false, isStored: true });
  });

  it("acts though the disk fails, and is stored when the disk is well again", async () => {
    let isBroken = true;
    const written: boolean[] = [];
    const journal: Journal = {
      ...createMemoryJournal(limits),
      write: () => Promise.reject(new Error("no space left on device")),
      writeHold(_hold, isHeld) {
        if (isBroken) return Promise.reject(new Error("no space left on device"));
        written.push(isHeld);
        return Promise.resolve();
      },
    };
    const harness = await newRig({ journal });
    await harness.see(missions("AMR01", 1, running));
    await hold(harness, "AMR01");
    await harness.clock.settle(4_000);
    expect(sent(harness)).toEqual(["Halt m1"]);
    expect(harness.dispatcher.holds.holdState("AMR01")).toMatchObject({ isHeld: true, isStored: false });
    expect(harness.dispatcher.health().figures).toMatchObject({ holdsNotStored: 1 });
    isBroken = false;
    const shown = harness.held.length;
    await harness.clock.settle(5_000);
    expect(written).toEqual([true]);
    expect(harness.dispatcher.holds.holdState("AMR01").isStored).toBe(true);
    expect(harness.held.slice(shown)).toEqual(["AMR01"]);
  });

  it.each([
    [true, "it is not stored yet that the robot is held: a restart or another leader would not know it"],
    [false, "it is not stored yet that the hold is lifted: a restart or another leader would hold it again"],
  ])("is answered after a second at most, and says what is not stored (%s)", async (isHeld, message) => {
    const store = { hangs: false };
    const journal: Journal = {
      ...createMemoryJournal(limits),
      writeHold: () => (store.hangs ? new Promise(() => {}) : Promise.resolve()),
    };
    const harness = await newRig({ journal });
    await hold(harness, "AMR01", !isHeld);
    store.hangs = true;
    const answered = harness.act("Hold", plc, { robot_id: "AMR01", hold: isHeld });
    await harness.clock.settle(1_000);
    const { responseJson, ...outcome } = await answered;
    expect(outcome).toMatchObject({ outcome: "succeeded", message });
    const by = isHeld ? ["opcua:plc"] : [];
    expect(JSON.parse(responseJson ?? "")).toEqual({ held: isHeld, by, stored: false });
  });
});
