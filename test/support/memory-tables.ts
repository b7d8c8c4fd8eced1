import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import { type KeyedStore, StoreFailed } from "../../src/platform/store.ts";
import { createLmdbStore } from "../../src/platform/stores/lmdb-store.ts";
import { createWriteBehind, type WriteBehind } from "../../src/platform/stores/write-behind.ts";

/** A store that outlives the tables on it, and does what a test says. */
export interface MemoryDisk {
  /** What is on it, by table, slash and key. */
  readonly records: Map<string, unknown>;
  /** Each write's records, in their order. */
  readonly writes: string[][];
  /** Whether it refuses to write. */
  isFull: boolean;
  readonly store: KeyedStore;
  /** The tables as a start of the gateway opens them. */
  open(clock?: Pick<Clock, "after">): WriteBehind;
}

export function createMemoryDisk(): MemoryDisk {
  const records = new Map<string, unknown>();
  const keys = () => [...records.keys()].sort();
  const within = ({ from, to }: { readonly from: string; readonly to: string }) =>
    keys().filter((key) => key >= from && key < to);
  const disk: MemoryDisk = {
    records,
    writes: [],
    isFull: false,
    store: {
      get: (key) => records.get(key),
      range: (range) => within(range).map((key) => ({ key, value: records.get(key) })),
      keys: within,
      async write(changes) {
        if (disk.isFull) throw new StoreFailed("the disk is full");
        disk.writes.push(changes.map(({ key }) => key));
        for (const { key, value } of changes) {
          if (value === undefined) records.delete(key);
          else records.set(key, JSON.parse(JSON.stringify(value)));
        }
      },
      figures: () => ({ records: 0, syncs: 0, failures: 0, slowestMs: 0 }),
      close: () => Promise.resolve(),
    },
    open: (clock = systemClock) =>
      createWriteBehind(createLmdbStore(disk.store, silentLog), clock, silentLog),
  };
  return disk;
}
