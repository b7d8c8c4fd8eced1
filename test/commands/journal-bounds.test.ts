import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Journal, JournalRecord } from "../../src/commands/journal/journal.ts";
import { ending } from "../../src/domain/outcome.ts";
import { openStore, StoreFailed } from "../../src/platform/store.ts";
import { holdCommits } from "../support/held-store.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { noRunningTime } from "../support/no-running-time.ts";

const KEEP = 500;
const ROUNDS = 40;
const A_ROUND = 250;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "journal-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function finished(number: number, name = "me"): JournalRecord {
  return {
    id: `cli:${name}/${number}`,
    digest: "d".repeat(64),
    command: {
      source: { protocol: "cli", name },
      requestId: String(number),
      operation: "Go",
      effect: "moves",
      robotId: "AMR01",
      requestJson: JSON.stringify({ robot: "AMR01", to: "x".repeat(300) }),
      startByMs: number,
    },
    queue: "robot/AMR01",
    robotId: "AMR01",
    acceptedAtMs: number,
    sentAtMs: number,
    finalAtMs: number,
    sentJson: "",
    baseline: null,
    outcome: ending("succeeded", "OK", "", false),
  };
}

async function prune(journal: Journal): Promise<void> {
  while (await journal.prune());
}

it("what is pruned makes room: the file does not grow with the commands that went through it", async () => {
  const journal = openJournalOn(openStore(directory), { keepMs: 1e9, keepCount: KEEP }, noRunningTime);
  const sizes: number[] = [];
  let number = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const writes = Array.from({ length: A_ROUND }, () => {
      number += 1;
      return journal.write(finished(number));
    });
    await Promise.all(writes);
    await prune(journal);
    expect(journal.figures().journalEntries).toBeLessThanOrEqual(KEEP);
    sizes.push(statSync(join(directory, "data.mdb")).size);
  }
  const [settled = 0] = sizes.slice(ROUNDS / 4);
  expect(sizes.at(-1), `sizes ${sizes.join(" ")}`).toBeLessThan(settled * 1.3);
  // The newest are there, also for a later start.
  await journal.close();
  const again = openJournalOn(openStore(directory), { keepMs: 1e9, keepCount: KEEP }, noRunningTime);
  expect(again.figures().journalEntries).toBeLessThanOrEqual(KEEP);
  expect(again.find(`cli:me/${number}`)).toBeDefined();
  expect(again.find("cli:me/1")).toBeUndefined();
  await again.close();
});

it("a record takes less than 5 kB, with the longest request that one keeps", async () => {
  const records = 10_000;
  const journal = openJournalOn(openStore(directory), { keepMs: 1e9, keepCount: records }, noRunningTime);
  for (let number = 0; number < 1.5 * records; ) {
    const batch = Array.from({ length: A_ROUND }, () => {
      number += 1;
      const entry = finished(number);
      return journal.write({ ...entry, command: { ...entry.command, requestJson: "x".repeat(1_024) } });
    });
    await Promise.all(batch);
    await prune(journal);
  }
  await journal.close();
  expect(statSync(join(directory, "data.mdb")).size / records).toBeLessThan(5_000);
});

it("who sends without end loses its own records, and nobody else's", async () => {
  const limits = { keepMs: 1e9, keepCount: KEEP };
  const journal = openJournalOn(openStore(directory), limits, noRunningTime);
  await Promise.all([1, 2, 3].map((number) => journal.write(finished(number, "quiet"))));
  await Promise.all(Array.from({ length: 3 * KEEP }, (_, at) => journal.write(finished(at, "loud"))));
  await prune(journal);
  expect(journal.figures().journalEntries).toBe(KEEP);
  await journal.close();
  // Also what an earlier run has left.
  const again = openJournalOn(openStore(directory), limits, noRunningTime);
  await Promise.all(Array.from({ length: KEEP }, (_, at) => again.write(finished(10_000 + at, "loud"))));
  await prune(again);
  expect(again.figures().journalEntries).toBe(KEEP);
  for (const number of [1, 2, 3]) expect(again.find(`cli:quiet/${number}`)).toBeDefined();
  expect(again.find("cli:loud/1499")).toBeUndefined();
  expect(again.find("cli:loud/10499")).toBeDefined();
  await again.close();
});

it("an outcome that the disk did not take is told all the same, for as long as this run lasts", async () => {
  const store = openStore(directory);
  let isFull = false;
  const write: typeof store.write = (changes) =>
    isFull ? Promise.reject(new StoreFailed("no space left on device")) : store.write(changes);
  const journal = openJournalOn({ ...store, write }, { keepMs: 1e9, keepCount: KEEP }, noRunningTime);
  const entry = finished(1);
  await journal.write({ ...entry, finalAtMs: null, outcome: null });
  isFull = true;
  await expect(journal.write(entry)).rejects.toThrow("no space left");
  expect(journal.find(entry.id)).toHaveProperty("outcome", entry.outcome);
  isFull = false;
  await journal.write(entry);
  expect(journal.find(entry.id)).toHaveProperty("outcome", entry.outcome);
  await journal.close();
});

it("a disk that hangs lets so many records wait; starts are refused then, and stops later", async () => {
  const journal = openJournalOn(openStore(directory), { keepMs: 1e9, keepCount: 1e6 }, noRunningTime);
  await journal.write(started(0, "moves"));
  const release = await holdCommits(directory);
  let number = 0;
  /** Writes until one is refused, and gives how many wait. */
  async function fill(effect: "moves" | "stops", waiting: Promise<void>[]): Promise<string> {
    for (;;) {
      number += 1;
      const writing = journal.write(started(number, effect));
      const settled = writing.then(
        () => "written",
        (error: unknown) => (error instanceof StoreFailed ? error.message : `${error}`),
      );
      const result = await Promise.race([
        settled,
        new Promise<null>((resolve) => setImmediate(resolve, null)),
      ]);
      if (result !== null) return result;
      if (number > 20_000) return "no bound";
      waiting.push(writing);
    }
  }
  const starts: Promise<void>[] = [];
  const stops: Promise<void>[] = [];
  try {
    expect(await fill("moves", starts)).toBe("4096 writes wait for the disk");
    expect(await fill("stops", stops)).toBe("5120 writes wait for the disk");
    expect(stops).toHaveLength(1_024);
    // What people depend on has the same room.
    await expect(journal.writeRuns("AMR01", null)).rejects.toThrow("5120 writes wait");
  } finally {
    await release();
  }
  await Promise.all([...starts, ...stops]);
  await journal.write(started(0, "moves"));
  await journal.close();
}, 60_000);

function started(number: number, effect: "moves" | "stops"): JournalRecord {
  const record = finished(number);
  return { ...record, command: { ...record.command, effect }, outcome: null, finalAtMs: null };
}
