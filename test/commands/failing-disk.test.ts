import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { createHarness, mission, missions, OK, plc } from "./commands-harness.ts";

const brokenJournal: Journal = {
  ...createMemoryJournal({ keepMs: 1, keepCount: 1 }),
  write: () => Promise.reject(new Error("no space left on device")),
};

describe("a disk that fails", () => {
  it("JOURNAL_FAILED: what cannot be recorded is not sent", async () => {
    const lines: string[] = [];
    const gatewayLog = createLog("info", { write: (line) => void lines.push(line) });
    const harness = await createHarness({ journal: brokenJournal, gatewayLog });
    const sent = await harness.send("Go", { robot: "AMR01" });
    expect(sent.outcome).toMatchObject({
      outcome: "refused",
      code: "JOURNAL_FAILED",
      message: "it was not sent: the journal failed (Error: no space left on device)",
      retrySafe: true,
    });
    expect(await harness.check("Go", { robot: "AMR01" })).toMatchObject({
      outcome: "refused",
      message: "the journal fails",
    });
    for (const msg of ["the journal failed", "an outcome could not be recorded"]) {
      const line = lines.map((each) => JSON.parse(each)).find((each) => each.msg === msg);
      expect(line, msg).toMatchObject({ robotId: "AMR01", command: expect.stringMatching(/./) });
    }
    const change = await harness.send("Register", { name: "hook" });
    expect(change.outcome?.code).toBe("JOURNAL_FAILED");
    expect(harness.dispatcher.health()).toMatchObject({
      state: "degraded",
      detail: "the journal cannot be written: nothing that moves or changes is sent, stops pass",
    });
    expect(harness.calls.filter(({ operation }) => operation !== "List")).toEqual([]);
  });

  it("is well again when the disk takes a record, before the next command", async () => {
    let isFull = true;
    const memory = createMemoryJournal({ keepMs: 1, keepCount: 1 });
    const unlessFull = async (write: () => Promise<void>) => {
      if (isFull) throw new Error("no space left on device");
      await write();
    };
    const harness = await createHarness({
      journal: {
        ...memory,
        write: (entry) => unlessFull(() => memory.write(entry)),
        writeProbe: () => unlessFull(memory.writeProbe),
      },
    });
    await harness.send("Go", { robot: "AMR01" });
    await harness.clock.settle(60_000);
    expect(harness.dispatcher.health().state).toBe("degraded");
    isFull = false;
    await harness.clock.settle(10_000);
    expect(harness.dispatcher.health().state).toBe("up");
  });

  it("tells in its health of an outcome that the disk did not take", async () => {
    const memory = createMemoryJournal({ keepMs: 1, keepCount: 1 });
    const journal: Journal = {
      ...memory,
      write: (entry) => (entry.outcome === null ? memory.write(entry) : brokenJournal.write(entry)),
    };
    const harness = await createHarness({ journal });
    const sent = await harness.send("Go", { robot: "AMR01" });
    expect(harness.dispatcher.health().state).toBe("up");
    await harness.call(0).answer(OK);
    expect(sent.outcome?.outcome).toBe("succeeded");
    expect(harness.dispatcher.health().state).toBe("degraded");
  });

  it.each([
    ["a lease", "writeLease"],
    ["a hold", "writeHold"],
    ["the end of what is no longer kept", "prune"],
  ] as const)("degrades health when the disk does not take %s", async (_, write) => {
    const memory = createMemoryJournal({ keepMs: 1, keepCount: 1 });
    const failure = () => Promise.reject(new Error("no space left on device"));
    const harness = await createHarness({
      journal: { ...memory, [write]: failure },
      stations: [{ name: "Dock", destinations: ["D1"], heartbeatMs: 60_000 }],
    });
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("m", "D1")));
    expect(harness.dispatcher.health().state).toBe("up");
    const { stations, holds } = harness.dispatcher;
    if (write === "writeLease") {
      expect(await stations.ask("Dock", plc, "AMR01")).toMatchObject({ code: "JOURNAL_FAILED" });
    }
    if (write === "writeHold") expect(holds.hold({ source: plc, robotId: "AMR02", isHeld: true })).toBeNull();
    await harness.clock.settle(write === "prune" ? 20_000 : 0);
    expect(harness.dispatcher.health().state).toBe("degraded");
  });

  it("holds up the reply to what was sent for five seconds at most, if it hangs", async () => {
    const memory = createMemoryJournal({ keepMs: 1, keepCount: 1 });
    let land = () => {};
    const landed = new Promise<void>((resolve) => {
      land = resolve;
    });
    const write: Journal["write"] = (entry) => (entry.outcome === null ? memory.write(entry) : landed);
    const harness = await createHarness({ journal: { ...memory, write } });
    const sent = await harness.send("Go", { robot: "AMR01" });
    await harness.call(0).answer(OK);
    await harness.clock.settle(4_999);
    expect(sent.outcome).toBeNull();
    await harness.clock.settle(1);
    const message = "this outcome is not on the disk yet: a crash before it is makes the gateway forget it";
    expect(sent.outcome).toMatchObject({ outcome: "succeeded", message });
    expect(harness.dispatcher.health().state).toBe("degraded");
    land();
    await harness.clock.settle(0);
    expect(harness.dispatcher.health().state).toBe("up");
    expect(harness.events.filter(({ kind }) => kind === "command")).toHaveLength(1);
  });

  it("JOURNAL_FAILED: a disk that hangs has failed after a second, and a late record sends nothing", async () => {
    let land = () => {};
    const landed = new Promise<void>((resolve) => {
      land = resolve;
    });
    const journal: Journal = { ...createMemoryJournal({ keepMs: 1, keepCount: 1 }), write: () => landed };
    const harness = await createHarness({ journal });
    const sent = await harness.send("Go", { robot: "AMR01" });
    await harness.clock.settle(999);
    expect(sent.outcome).toBeNull();
    await harness.clock.settle(1);
    expect(sent.outcome).toMatchObject({
      outcome: "refused",
      code: "JOURNAL_FAILED",
      message: "it was not sent: the journal failed (the disk took more than 1000 ms)",
    });
    expect(harness.dispatcher.health().state).toBe("degraded");
    land();
    await harness.clock.settle(0);
    expect(harness.dispatcher.health().state).toBe("up");
    expect(harness.calls).toEqual([]);
    expect(sent.stages).toEqual([]);
  });
});
