import { expect, it } from "vitest";
import { createSharedTables } from "../../src/cluster/protocol/shared-tables.ts";
import { createBdSeq } from "../../src/northbound/mqtt/sparkplug/link.ts";
import { silentLog as log } from "../../src/platform/log.ts";
import { createLmdbStore } from "../../src/platform/stores/lmdb-store.ts";
import type { Codec } from "../../src/platform/stores/table-store.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createMemoryDisk } from "../support/memory-tables.ts";

const clock = createManualClock();
const ending = new AbortController();
const anything: Codec<unknown> = { encode: (value) => value, decode: (json) => json };
const turn = () => new Promise(setImmediate);

/** The store of a cluster, as far as tables need it. */
function createStore() {
  const disk = createMemoryDisk();
  const listeners: Array<(table: string, key: string) => void> = [];
  const tables = createLmdbStore(disk.store, log);
  let refused: string | null = null;
  return {
    disk,
    tables,
    /** Takes no change of this table; null: takes all. */
    refuse(table: string | null): void {
      refused = table;
    },
    onTable: (listener: (table: string, key: string) => void) => void listeners.push(listener),
    /** What a leader writes reaches all. */
    written: {
      table: tables.table,
      async write(changes: Parameters<typeof tables.write>[0]) {
        if (changes.some(({ table }) => table === refused)) throw new Error("etcd does not answer");
        await tables.write(changes);
        for (const { table, key } of changes) for (const listener of listeners) listener(table, key);
      },
    },
  };
}

type ClusterStore = ReturnType<typeof createStore>;

function openBox(store: ClusterStore) {
  const disk = createMemoryDisk();
  let isOtherLeading = false;
  const tables = createSharedTables({
    own: disk.open(clock),
    written: { tables: store.tables, onTable: store.onTable, isOtherLeading: () => isOtherLeading },
    ...{ clock, log, ended: ending.signal },
  });
  const put = (name: string, key: string, value: unknown) =>
    tables.keep([tables.table(name, anything, "begin empty").put(key, value)]);
  return {
    ...{ disk, tables, put },
    follow() {
      isOtherLeading = true;
      clock.advance(500);
    },
    lead() {
      isOtherLeading = false;
      tables.lead(store.written);
    },
  };
}

const keysOf = ({ disk }: { readonly disk: ReturnType<typeof createMemoryDisk> }) =>
  [...disk.records.keys()].sort();

it("the first leader brings what its box has, and the others have it then", async () => {
  const store = createStore();
  const [a, b] = [openBox(store), openBox(store)];
  for (const [key, value] of [
    ["stations/dock", 7],
    ["robots/r1", 1],
    ["box-alarms/x", 1],
  ] as const)
    a.disk.records.set(key, value);
  b.disk.records.set("stations/old", 1);
  b.follow();
  await turn();
  // Nobody has led yet: this box may be the one that brings all.
  expect(keysOf(b)).toEqual(["stations/old"]);
  a.lead();
  await clock.settle(3_000);
  expect(keysOf(store)).toEqual(["robots/r1", "shared/begun", "stations/dock"]);
  b.follow();
  await turn();
  expect(keysOf(b)).toEqual(["stations/dock"]);
  expect(b.tables.shared?.isFollowing()).toBe(true);
});

it("a successor goes on with the numbers of the edge node", async () => {
  const store = createStore();
  const [a, b] = [openBox(store), openBox(store)];
  const bdSeqOf = ({ tables }: typeof a) => createBdSeq({ groupId: "plant", nodeId: "fleet" }, tables);
  const [first, second] = [bdSeqOf(a), bdSeqOf(b)];
  a.lead();
  await clock.settle(3_000);
  b.follow();
  expect([await first.next(), await first.next()]).toEqual([0, 1]);
  await turn();
  b.lead();
  expect(await second.next()).toBe(2);
});

it("the others take nothing over before the first leader has written all", async () => {
  const store = createStore();
  const [a, b] = [openBox(store), openBox(store)];
  a.disk.records.set("alarms/x", 1);
  a.disk.records.set("stations/dock", 7);
  b.disk.records.set("alarms/y", 1);
  store.refuse("alarms");
  a.lead();
  await clock.settle(4_000);
  expect(keysOf(store)).toEqual(["stations/dock"]);
  b.follow();
  await turn();
  expect(keysOf(b)).toEqual(["alarms/y"]);
  store.refuse(null);
  await clock.settle(8_000);
  expect(keysOf(store)).toEqual(["alarms/x", "shared/begun", "stations/dock"]);
});

it("a standby keeps the leader's values and not its own, and writes its own when it leads", async () => {
  const store = createStore();
  const [a, b] = [openBox(store), openBox(store)];
  a.lead();
  await turn();
  b.follow();
  const seen: unknown[] = [];
  b.tables.shared?.follow("stations", {
    all: (content) => void seen.push([...content]),
    changed: (key, value) => void seen.push([key, value]),
    settled: () => void seen.push("settled"),
    lead: () => b.put("stations", "gate", 3),
  });
  b.put("stations", "dock", 1);
  b.put("robots", "r9", 1);
  b.put("box-alarms", "y", 1);
  clock.advance(1_000);
  a.put("stations", "dock", 8);
  clock.advance(1_000);
  await turn();
  expect(seen).toEqual([[], "settled", ["dock", 8], "settled"]);
  expect([...b.disk.records].sort()).toEqual([
    ["box-alarms/y", 1],
    ["robots/r9", 1],
    ["stations/dock", 8],
  ]);
  b.lead();
  clock.advance(1_000);
  await turn();
  expect(store.disk.records.get("stations/gate")).toBe(3);
  expect(b.disk.records.get("stations/gate")).toBe(3);
  expect(b.tables.table("stations", anything, "begin empty").get("dock")).toBe(8);
});

it("counters are written once a second together, and what a person waits for at once", async () => {
  const store = createStore();
  const a = openBox(store);
  a.lead();
  await turn();
  clock.advance(2_000);
  await turn();
  store.disk.writes.length = 0;
  for (let count = 1; count <= 30; count += 1) {
    a.put("stations", "dock", count);
    a.put("stations", "gate", count);
    clock.advance(100);
    await turn();
  }
  expect(store.disk.writes.length).toBeLessThanOrEqual(4);
  expect(store.disk.writes.at(-1)).toEqual(["stations/dock", "stations/gate"]);
  a.put("alarms", "x", 1);
  expect(await a.tables.flushed()).toBe(true);
  expect(store.disk.records.get("alarms/x")).toBe(1);
});

it("a table of many records is written in parts, without those that are too large", async () => {
  const store = createStore();
  const a = openBox(store);
  a.lead();
  await turn();
  clock.advance(1_000);
  await turn();
  store.disk.writes.length = 0;
  for (let topic = 0; topic < 120; topic += 1) a.put("published-topics", `t${topic}`, topic);
  a.put("published-topics", "large", "x".repeat(300_000));
  for (let wait = 0; wait < 10; wait += 1) {
    clock.advance(250);
    await turn();
  }
  expect(store.disk.writes.map((write) => write.length)).toEqual([50, 50, 20]);
});
