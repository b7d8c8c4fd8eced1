import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/commands/journal/journal.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { type CommandsHarness, createHarness, mission, missions, plc } from "./commands-harness.ts";

const stations = [{ name: "Dock", destinations: ["D1"], heartbeatMs: 60_000 }];
const scada = { protocol: "mqtt", name: "scada" } as const;
const rights = [
  { source: { protocol: "opcua", name: "*" }, role: "engineer" },
  { source: { protocol: "mqtt", name: "*" }, role: "engineer" },
] as const;

/** A disk on which each write of a lease waits for the test. */
function createSlowDisk() {
  const waiting: Array<{ readonly land: () => void; readonly fail: (error: Error) => void }> = [];
  const journal: Journal = {
    ...createMemoryJournal({ keepMs: 1_000, keepCount: 10 }),
    writeLease: () => new Promise((land, fail) => waiting.push({ land, fail })),
  };
  return { journal, waiting };
}

async function atDock(journal: Journal): Promise<CommandsHarness> {
  const harness = await createHarness({ stations, options: { rights }, journal });
  await harness.see(missions("AMR01", harness.clock.nowMs(), mission("m", "D1")));
  return harness;
}

/** What an asker has been told so far; undefined: nothing. */
function told(asked: Promise<Outcome | null>) {
  const answer: { outcome?: Outcome | null } = {};
  void asked.then((outcome) => {
    answer.outcome = outcome;
  });
  return answer;
}

describe("a lease is on the disk before it is granted", () => {
  it("is told to nobody until then, and keeps others out meanwhile", async () => {
    const { journal, waiting } = createSlowDisk();
    const harness = await atDock(journal);
    const { stations: leases } = harness.dispatcher;
    const [first, again] = [leases.ask("Dock", plc, "AMR01"), leases.ask("Dock", plc, "AMR01")].map(told);
    const other = told(leases.ask("Dock", scada, "AMR01"));
    await harness.clock.settle(900);
    expect([first, again]).toEqual([{}, {}]);
    expect(leases.leaseOf("AMR01")).toBeNull();
    expect(leases.leased("Dock", plc)).toEqual([]);
    expect(harness.events.filter(({ kind }) => kind === "lease")).toEqual([]);
    expect(other.outcome).toMatchObject({ code: "LEASE_HELD" });
    const start = await harness.send("Go", { robot: "AMR01" }, { source: scada });
    expect(start.outcome).toMatchObject({ code: "LEASE_HELD" });
    waiting[0]?.land();
    await harness.clock.settle(0);
    expect([first, again]).toEqual([{ outcome: null }, { outcome: null }]);
    expect(leases.leaseOf("AMR01")).toMatchObject({ station: "Dock", owner: plc });
    expect(harness.events.filter(({ kind }) => kind === "lease")).toMatchObject([{ to: "leased" }]);
    // A lease that is there is confirmed at once.
    expect(await leases.ask("Dock", plc, "AMR01")).toBeNull();
    expect(waiting).toHaveLength(1);
  });

  it.each([
    ["fails", (disk: ReturnType<typeof createSlowDisk>) => disk.waiting[0]?.fail(new Error("no space left"))],
    ["takes longer than a second", () => {}],
  ])("JOURNAL_FAILED: is not granted when the disk %s, and can be asked for again", async (_, behave) => {
    const disk = createSlowDisk();
    const harness = await atDock(disk.journal);
    const { stations: leases } = harness.dispatcher;
    const asked = told(leases.ask("Dock", plc, "AMR01"));
    behave(disk);
    await harness.clock.settle(1_000);
    expect(asked.outcome).toMatchObject({
      outcome: "refused",
      code: "JOURNAL_FAILED",
      message: "the lease was not granted: the disk did not take it",
    });
    expect(leases.leaseOf("AMR01")).toBeNull();
    expect(harness.events.filter(({ kind }) => kind === "lease")).toEqual([]);
    const anew = told(leases.ask("Dock", scada, "AMR01"));
    for (let writes = 0; writes < 3; writes += 1) {
      for (const { land } of disk.waiting) land();
      await harness.clock.settle(0);
    }
    expect(anew.outcome).toBeNull();
    expect(leases.leaseOf("AMR01")).toMatchObject({ owner: scada });
  });

  it("is not granted when it has ended while it was recorded", async () => {
    const { journal, waiting } = createSlowDisk();
    const harness = await atDock(journal);
    const { stations: leases } = harness.dispatcher;
    const asked = told(leases.ask("Dock", plc, "AMR01"));
    expect(leases.release("Dock", plc, "AMR01")).toBeNull();
    for (let writes = 0; writes < 3; writes += 1) {
      for (const { land } of waiting) land();
      await harness.clock.settle(0);
    }
    expect(asked.outcome).toMatchObject({
      outcome: "refused",
      code: "NOT_AT_STATION",
      message: "the lease ended while it was recorded: ask again",
    });
    expect(leases.leaseOf("AMR01")).toBeNull();
    expect(harness.events.filter(({ kind }) => kind === "lease")).toEqual([]);
  });
});
