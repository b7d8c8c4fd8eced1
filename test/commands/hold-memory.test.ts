import { describe, expect, it } from "vitest";
import { openDurableJournal } from "../../src/commands/journal/durable-journal.ts";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { createMemoryJournal } from "../../src/commands/journal/memory-journal.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { eva, hold, newRig, running, scada, sent } from "./holds-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";
import { missions } from "./rig.ts";

const limits = { keepMs: 3_600_000, keepCount: 1_000 };

describe("a hold and the disk", () => {
  it("outlives kill -9, with its user, and stops what is seen running afterwards", async () => {
    const disk = createLossyDisk();
    const clock = createManualClock();
    const first = await newRig({ clock, journal: openDurableJournal(syncing(disk), limits) });
    await hold(first, "AMR01");
    await hold(first, "AMR01", true, scada);
    await hold(first, null, true, eva);
    await hold(first, "AMR01", false, scada);
    await clock.settle(0);
    disk.crash();
    const next = await newRig({ clock, journal: openDurableJournal(syncing(disk), limits) });
    expect(next.dispatcher.holds.holdState("AMR01").by).toEqual(["opcua:plc", "opcua:eva (all)"]);
    expect(next.notices).toEqual([]);
    await next.see(missions("AMR01", 1, running));
    expect(sent(next)).toEqual(["Halt m1"]);
    expect(await hold(next, "AMR01", false)).toBeNull();
    expect(await hold(next, null, false, eva)).toBeNull();
    await clock.settle(0);
    const last = await newRig({ clock, journal: openDurableJournal(syncing(disk), limits) });
    expect(last.dispatcher.holds.holdState("AMR01").isHeld).toBe(false);
  });

  it("acts though the disk hangs, and is stored when the disk goes on", async () => {
    const stored: Array<() => void> = [];
    const journal: Journal = {
      ...createMemoryJournal(limits),
      write: () => new Promise(() => {}),
      writeHold: () => new Promise((resolve) => stored.push(resolve)),
    };
    const rig = await newRig({ journal });
    await rig.see(missions("AMR01", 1, running));
    await hold(rig, "AMR01");
    expect(rig.dispatcher.holds.holdState("AMR01")).toMatchObject({ isHeld: true, isStored: false });
    expect(rig.dispatcher.holds.holdState("AMR02")).toMatchObject({ isHeld: false, isStored: true });
    await rig.clock.settle(50);
    expect(sent(rig)).toEqual(["Halt m1"]);
    await rig.send("Go", { robot: "AMR01", to: "A" });
    expect(rig.calls).toHaveLength(1);
    // One write at a time, and then the newest.
    for (const isHeld of [false, true, false]) await hold(rig, "AMR01", isHeld);
    // A second, after which the same hold is lifted again.
    await rig.clock.settle(1_000);
    expect(stored).toHaveLength(1);
    stored[0]?.();
    await rig.clock.settle(0);
    expect(rig.dispatcher.holds.holdState("AMR01").isStored).toBe(false);
    expect(stored).toHaveLength(2);
    stored[1]?.();
    await rig.clock.settle(0);
    expect(rig.dispatcher.holds.holdState("AMR01")).toMatchObject({ isHeld: false, isStored: true });
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
    const rig = await newRig({ journal });
    await rig.see(missions("AMR01", 1, running));
    await hold(rig, "AMR01");
    await rig.clock.settle(4_000);
    expect(sent(rig)).toEqual(["Halt m1"]);
    expect(rig.dispatcher.holds.holdState("AMR01")).toMatchObject({ isHeld: true, isStored: false });
    expect(rig.dispatcher.health().figures).toMatchObject({ holdsNotStored: 1 });
    isBroken = false;
    const shown = rig.held.length;
    await rig.clock.settle(5_000);
    expect(written).toEqual([true]);
    expect(rig.dispatcher.holds.holdState("AMR01").isStored).toBe(true);
    expect(rig.held.slice(shown)).toEqual(["AMR01"]);
  });
});
