import { describe, expect, it } from "vitest";
import type { Journal } from "../../../src/bridge/dispatcher/journal.ts";
import { createMemoryJournal } from "../../../src/bridge/dispatcher/memory-journal.ts";
import { createRig, missions, OK } from "./rig.ts";

const brokenJournal: Journal = {
  ...createMemoryJournal({ keepMs: 1, keepCount: 1 }),
  write: () => Promise.reject(new Error("no space left on device")),
};

describe("stops", () => {
  it("pass a robot that is not good, a full queue and a broken disk", async () => {
    const rig = await createRig({
      journal: brokenJournal,
      options: { maxQueue: 0 },
    });
    rig.quality.set("AMR01", "lost");
    await rig.see(missions("AMR01", 0));
    for (const robot of ["AMR01", "AMR99"]) {
      const stop = await rig.send("Halt", { robot });
      expect(stop.stages).toEqual(["accepted", "sent"]);
    }
    expect(rig.calls).toHaveLength(2);
  });

  it("wait for a slow disk only so long", async () => {
    const journal: Journal = {
      ...createMemoryJournal({ keepMs: 1, keepCount: 1 }),
      write: () => new Promise(() => {}),
    };
    const rig = await createRig({ journal });
    await rig.send("Halt", { robot: "AMR01" });
    expect(rig.calls).toHaveLength(0);
    await rig.clock.settle(50);
    expect(rig.calls).toHaveLength(1);
  });

  it("go while another command is in flight", async () => {
    const rig = await createRig();
    const start = await rig.send("Go", { robot: "AMR01" });
    const stop = await rig.send("Halt", { robot: "AMR01" });
    await rig.call(1).answer(OK);
    expect(stop.outcome?.outcome).toBe("succeeded");
    expect(start.outcome).toBeNull();
    await rig.call(0).answer(OK);
    expect(start.outcome?.outcome).toBe("succeeded");
  });

  it("take with them a start that is called and has not left, and no later one", async () => {
    const rig = await createRig();
    const start = await rig.send("Go", { robot: "AMR01" });
    const other = await rig.send("Go", { robot: "AMR02" });
    expect(rig.call(0).mayLeave()).toBe(true);
    await rig.send("Halt", { robot: "AMR01" });
    expect([0, 1, 2].map((place) => rig.call(place).mayLeave())).toEqual([false, true, true]);
    await rig.call(0).answer({ kind: "not_sent", message: "a stop overtook it", byStop: true });
    expect(start.outcome).toMatchObject({ outcome: "refused", code: "CANCELED_BY_STOP" });
    expect(other.outcome).toBeNull();
    await rig.call(2).answer(OK);
    await rig.send("Go", { robot: "AMR01" });
    expect(rig.call(3).mayLeave()).toBe(true);
  });
});
