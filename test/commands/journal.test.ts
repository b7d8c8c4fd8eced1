import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Journal, JournalLimits, JournalRecord } from "../../src/commands/journal/journal.ts";
import { ending } from "../../src/domain/outcome.ts";
import type { RunningTime } from "../../src/platform/running-time.ts";
import { openStore } from "../../src/platform/store.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { createLossyDisk } from "./lossy-store.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "journal-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function entry(id: string, acceptedAtMs: number, isFinal = true): JournalRecord {
  return {
    id,
    digest: "d",
    command: {
      source: { protocol: "cli", name: "me" },
      requestId: id,
      operation: "Go",
      effect: "moves",
      robotId: null,
      requestJson: "{}",
      startByMs: 0,
    },
    queue: "fleet",
    robotId: null,
    acceptedAtMs,
    sentAtMs: null,
    finalAtMs: isFinal ? acceptedAtMs : null,
    sentJson: "{}",
    baseline: null,
    outcome: isFinal ? ending("succeeded", "OK", "", false) : null,
  };
}

type Open = (limits: JournalLimits, time?: RunningTime) => Journal;
const kinds: ReadonlyArray<[string, Open]> = [
  ["in memory", createMemoryJournal],
  ["on lmdb", (limits, time = noRunningTime) => openJournalOn(openStore(directory), limits, time)],
];

describe.each(kinds)("a journal %s", (_, open) => {
  it("drops what never left before what was sent", async () => {
    const journal = open({ keepMs: 1_000, keepCount: 2 });
    const sent = { ...entry("sent", 0), sentAtMs: 0 };
    for (const each of [
      sent,
      entry("refused", 0),
      { ...entry("sent too", 0), sentAtMs: 0 },
      entry("expired", 0),
    ])
      await journal.write(each);
    for (let turn = 0; turn < 5; turn += 1) await journal.prune();
    const kept = ["sent", "refused", "sent too", "expired"].filter((id) => journal.find(id) !== undefined);
    expect(kept).toEqual(["sent", "sent too"]);
    await journal.close();
  });

  it("drops the oldest of whoever has most, and not what is unfinished", async () => {
    const journal = open({ keepMs: 1_000, keepCount: 3 });
    const of = (name: string, id: string, isFinal = true): JournalRecord => {
      const made = entry(id, 0, isFinal);
      return { ...made, command: { ...made.command, source: { protocol: "mqtt", name } } };
    };
    const all = [of("a", "a1"), of("b", "b1", false), of("b", "b2"), of("b", "b3"), of("b", "b4")];
    for (const each of all) await journal.write(each);
    for (let turn = 0; turn < 5; turn += 1) await journal.prune();
    expect(all.filter(({ id }) => journal.find(id) !== undefined).map(({ id }) => id)).toEqual([
      "a1",
      "b1",
      "b4",
    ]);
    await journal.close();
  });

  it("finds what was written, and the newest of it", async () => {
    const journal = open({ keepMs: 100, keepCount: 10 });
    await journal.write(entry("a", 1, false));
    expect(journal.find("a")).toEqual(entry("a", 1, false));
    await journal.write(entry("a", 1));
    expect(journal.find("a")).toEqual(entry("a", 1));
    expect(journal.find("b")).toBeUndefined();
    expect(journal.figures()).toMatchObject({ journalEntries: 1 });
    await journal.close();
  });

  it("drops finished entries by age and by count, never one without an outcome", async () => {
    let runningMs = 0;
    const time = { totalMs: () => runningMs, atLeast() {} };
    const journal = open({ keepMs: 100, keepCount: 3 }, time);
    await journal.write(entry("open", 0, false));
    for (const n of [1, 2, 3, 4]) {
      runningMs = n * 10;
      // What the wall clock says of it does not count.
      await journal.write(entry(`e${n}`, n % 2 === 0 ? 0 : 1e15));
    }
    await journal.prune();
    const kept = () => ["open", "e1", "e2", "e3", "e4"].filter((id) => journal.find(id) !== undefined);
    expect(kept()).toEqual(["open", "e3", "e4"]);
    runningMs = 131;
    await journal.prune();
    expect(kept()).toEqual(["open", "e4"]);
    expect(journal.figures()).toMatchObject({ journalEntries: 2 });
    await journal.close();
  });
});

describe("the durable journal", () => {
  const limits = { keepMs: 1_000, keepCount: 100 };

  it("gives back what has no outcome after a restart, oldest first", async () => {
    const journal = openJournalOn(openStore(directory), limits, noRunningTime);
    await journal.write(entry("first", 1, false));
    await journal.write(entry("done", 2));
    await journal.write(entry("second", 3, false));
    await journal.close();
    const again = openJournalOn(openStore(directory), limits, noRunningTime);
    expect(again.unfinished().map(({ id }) => id)).toEqual(["first", "second"]);
    await again.write(entry("third", 4, false));
    expect(again.figures()).toMatchObject({ journalEntries: 4 });
    await again.close();
  });

  it("shares one sync among the commands of a moment", async () => {
    const journal = openJournalOn(openStore(directory), limits, noRunningTime);
    await Promise.all(Array.from({ length: 50 }, (_, n) => journal.write(entry(`c${n}`, n))));
    const { journalRecords, journalSyncs } = journal.figures();
    expect(journalRecords).toBe(100);
    expect(journalSyncs).toBeLessThanOrEqual(2);
    await journal.close();
  });

  it("places an entry in the order even when its first write failed", async () => {
    const disk = createLossyDisk();
    const store = disk.open();
    let fails = true;
    const journal = openJournalOn(
      { ...store, write: (changes) => (fails ? Promise.reject(new Error("full")) : store.write(changes)) },
      limits,
      noRunningTime,
    );
    await expect(journal.write(entry("a", 1, false))).rejects.toThrow("full");
    expect(journal.find("a")).toBeUndefined();
    fails = false;
    const written = journal.write(entry("a", 1, false));
    disk.sync();
    await written;
    expect(openJournalOn(disk.open(), limits, noRunningTime).unfinished()).toHaveLength(1);
  });

  it("does not open what holds something else: nobody could say what was sent", async () => {
    const store = openStore(directory);
    await store.write([
      { key: "order/000000000000001", value: "x" },
      { key: "commands/x", value: 7 },
    ]);
    expect(() => openJournalOn(store, limits, noRunningTime)).toThrow(
      "the record x of the table commands is not what was written",
    );
    await store.close();
  });

  it("does not open when a record's key is another one than its order names: it would count as never sent", async () => {
    const store = openStore(directory);
    await openJournalOn(store, limits, noRunningTime).write(entry("x", 0));
    const record = store.get("commands/x");
    await store.write([
      { key: "commands/x", value: undefined },
      { key: "commands/y", value: record },
    ]);
    expect(() => openJournalOn(store, limits, noRunningTime)).toThrow("names a record that it does not have");
    await store.close();
  });
});
