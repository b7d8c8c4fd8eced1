import { expect, it } from "vitest";
import type { ClusterStore, StoreChanges, StoreEntry } from "../../src/cluster/protocol/cluster-store.ts";
import { createOpenWriter } from "../../src/cluster/protocol/epoch-writer.ts";
import { createKnownKeys, createMirror } from "../../src/cluster/protocol/mirror.ts";
import { TABLES, tableKey } from "../../src/cluster/protocol/records.ts";
import { createReplicatedStore } from "../../src/cluster/protocol/replicated-store.ts";
import { openDurableJournal } from "../../src/commands/journal/durable-journal.ts";
import { createMemberJournal, followJournal } from "../../src/commands/journal/member-journal.ts";
import { orderKey, packRecord } from "../../src/commands/journal/stored-record.ts";
import { ending } from "../../src/domain/outcome.ts";
import { systemClock as clock } from "../../src/platform/clock.ts";
import { createRunningTime } from "../../src/platform/running-time.ts";
import { recordOf } from "./ended-record.ts";
import { noDisk } from "./no-disk.ts";

const RECORDS = 100_000;
const limits = { keepMs: 86_400_000, keepCount: RECORDS };

/** As long as one of a mission is. */
const recorded = (number: number) => {
  const record = recordOf(`job-${number}`);
  const request = JSON.stringify({ robotId: "r1", mission: { goal: "x".repeat(300) } });
  const source = { protocol: "mqtt", name: `line${number % 20}` } as const;
  return { ...record, command: { ...record.command, source, requestJson: request }, sentJson: request };
};

/** Becomes a text that is no JSON. */
const foreign = Symbol("foreign");

/** A store with records 1 to `count`, of which the last has no outcome, and what changes it. */
function storeOf(count: number) {
  let revision = count;
  let receive: (changes: StoreChanges) => void = () => {};
  const entry = (key: string, value: unknown, at: number): StoreEntry => ({
    key,
    value: value === foreign ? "not json" : JSON.stringify(value),
    created: at,
    modified: at,
  });
  const commands = Array.from({ length: count }, (_, at) => {
    const record = recorded(at + 1);
    const isOpen = at === count - 1;
    const left = isOpen ? { ...record, outcome: null, finalAtMs: null } : record;
    return entry(tableKey("commands", record.id), packRecord(left, at), at + 1);
  });
  const order = commands.map(({ key, modified }) =>
    entry(tableKey("order", orderKey(modified)), key.slice(tableKey("commands", "").length), modified),
  );
  const store = {
    read: async () => ({ clusterId: "c", revision: count, entries: [...commands, ...order] }),
    watch(_from: number, taken: typeof receive) {
      receive = taken;
      return () => {};
    },
  } as unknown as ClusterStore;
  return {
    ...{ store, count },
    change(...changes: ReadonlyArray<readonly [table: string, key: string, value: unknown]>) {
      revision += 1;
      receive({
        revision,
        changes: changes.map(([table, key, value]) => {
          const full = tableKey(table, key);
          return { key: full, entry: value === null ? null : entry(full, value, revision) };
        }),
      });
    },
  };
}

/** The tables of a standby, which has all that the store has. */
async function standBy({ store, change, count }: ReturnType<typeof storeOf>) {
  const ending = new AbortController();
  const mirror = createMirror({ store, clock, retryMs: 250, disk: noDisk });
  const tables = createReplicatedStore({
    ...{ mirror, clock, ended: ending.signal },
    keys: createKnownKeys(mirror),
    writer: createOpenWriter({ store, clock }),
    times: { permissionMs: 2_000, retryMs: 250 },
    conditionsOf: () => [],
  });
  const records = followJournal(tables);
  mirror.subscribe((key) => {
    const [table = "", ...rest] = key.slice(TABLES.length).split("/");
    records.changed(table, rest.join("/"));
  });
  mirror.start(ending.signal);
  await mirror.reached(count);
  ending.abort();
  return { tables, records, change };
}

/** Resolves with how long the loop stood still at most meanwhile. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let lastMs = performance.now();
  let isOver = false;
  const look = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  look();
  return longestMs;
}

/** Processor time of this process: others do not count. */
function spentMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const time = () => createRunningTime(0, clock);

it("a member that takes over has read a long journal before", async () => {
  const long = storeOf(RECORDS);
  let standby = await standBy(storeOf(0));
  const loadMs = await longestBlock(async () => {
    standby = await standBy(long);
    await standby.records.caughtUp();
  });
  const { tables, records } = standby;
  const beforeMs = spentMs();
  const readNow = openDurableJournal(tables, limits, time());
  const readMs = spentMs() - beforeMs;
  const index = await records.caughtUp();
  const openMs = spentMs();
  const journal = openDurableJournal(tables, limits, time(), null, index);
  const tookMs = spentMs() - openMs;
  process.stdout.write(
    `${RECORDS} records: read at the takeover ${Math.round(readMs)} ms, before it ${Math.round(tookMs)} ms; the loop stands for ${Math.round(loadMs)} ms at most while a standby reads them\n`,
  );
  expect(tookMs).toBeLessThan(readMs / 5);
  expect(journal.unfinished()).toEqual(readNow.unfinished());
  expect(journal.made()).toEqual(readNow.made());
  expect(journal.ended()).toEqual(readNow.ended());
  expect(journal.figures()).toEqual(readNow.figures());
}, 60_000);

it("what the leader writes and removes meanwhile counts at the takeover", async () => {
  const { tables, records, change } = await standBy(storeOf(10));
  const open = { ...recorded(11), outcome: null, finalAtMs: null };
  change(["commands", "job-11", packRecord(open, 11)], ["order", orderKey(11), "job-11"]);
  change(["commands", "job-10", packRecord(recorded(10), 12)]);
  change(["commands", "job-1", null], ["order", orderKey(1), null]);
  // Its write has failed, and a tombstone keeps it from coming.
  change(["commands", "job-12", null], ["order", orderKey(12), null]);
  const unknown = { ...recorded(2), outcome: ending("unknown", "OUTCOME_UNKNOWN", "", false) };
  change(["commands", "job-2", packRecord(unknown, 13)]);
  const followed = openDurableJournal(tables, limits, time(), null, await records.caughtUp());
  const read = openDurableJournal(tables, limits, time());
  expect(followed.unfinished().map(({ id }) => id)).toEqual(["job-11"]);
  expect(followed.unfinished()).toEqual(read.unfinished());
  // The end of a record that is gone does no harm: nobody finds it.
  expect(followed.ended().filter(({ id }) => id !== "job-1")).toEqual(read.ended());
  expect(followed.figures()).toEqual(read.figures());
  expect(followed.figures().journalEntries).toBe(10);
});

it("a record that is missing is found at the takeover, unless it comes until then", async () => {
  const { records, change } = await standBy(storeOf(2));
  change(["order", orderKey(3), "job-3"]);
  await new Promise(setImmediate);
  change(["commands", "job-3", packRecord(recorded(3), 3)]);
  change(["order", orderKey(4), "job-4"]);
  await new Promise(setImmediate);
  expect(records.lacking()).toEqual(["commands/job-4", `order/${orderKey(4)}`]);
  await expect(records.caughtUp()).rejects.toThrow("names a record that it does not have");
  change(["commands", "job-4", packRecord(recorded(4), 4)]);
  expect(records.lacking()).toEqual([]);
  expect((await records.caughtUp()).shares.size()).toBe(3);
});

it("a text in the place of a record keeps a standby from leading until both keys are gone", async () => {
  const { tables, records, change } = await standBy(storeOf(3));
  const keys = ["commands/job-1", `order/${orderKey(1)}`];
  const turn = () => new Promise(setImmediate);
  const journal = openDurableJournal(tables, limits, time());
  const standby = createMemberJournal(tables);
  change(["commands", "job-1", foreign]);
  await turn();
  expect(records.lacking()).toEqual(keys);
  // Neither the leader nor a standby takes the id for a new one.
  expect([journal.find("job-1"), standby.find("job-1")]).toEqual(["damaged", "damaged"]);
  await expect(records.caughtUp()).rejects.toThrow("not what was written");
  change(["commands", "job-1", null]);
  await turn();
  expect(records.lacking()).toEqual(keys);
  await expect(records.caughtUp()).rejects.toThrow("names a record that it does not have");
  change(["order", orderKey(1), null]);
  await turn();
  expect(records.lacking()).toEqual([]);
  expect((await records.caughtUp()).shares.size()).toBe(1);
});

it("a text in the place of a number counts, and one that replaces none does not", async () => {
  const { records, change } = await standBy(storeOf(2));
  change(["order", "garbage", foreign], ["order", "7", "job-9"], ["commands", "garbage", foreign]);
  await new Promise(setImmediate);
  expect(records.lacking()).toEqual([]);
  change(["order", orderKey(1), foreign]);
  await new Promise(setImmediate);
  expect(records.lacking()).toEqual([`order/${orderKey(1)}`]);
});
