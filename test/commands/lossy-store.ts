import type { Store, StoreChange } from "../../src/platform/store.ts";

/** A disk that forgets, when the machine crashes, what was not synced. */
export interface LossyDisk {
  /** The store as a process opens it after a start. */
  open(): Store;
  /** Syncs what was written; the writers are told. */
  sync(): void;
  /** The machine stops: what was not synced is gone, and nobody is told anything. */
  crash(): void;
  /** What is on the disk for certain. */
  durable(key: string): unknown;
}

interface Pending {
  readonly changes: readonly StoreChange[];
  readonly resolve: () => void;
}

/** @param lies whether a write is called done at once, without a sync: a planted defect */
export function createLossyDisk(lies = false): LossyDisk {
  const records = new Map<string, string>();
  let pending: Pending[] = [];
  let starts = 0;

  function apply({ key, value }: StoreChange): void {
    if (value === undefined) records.delete(key);
    else records.set(key, JSON.stringify(value));
  }

  function read(key: string): unknown {
    const text = records.get(key);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** The disk as the process of one start sees it; a dead one writes nothing any more. */
  function storeOf(start: number): Store {
    return {
      get: read,
      *range({ from, to, limit = Number.POSITIVE_INFINITY }) {
        const keys = [...records.keys()].filter((key) => key >= from && key < to).sort();
        for (const key of keys.slice(0, limit)) yield { key, value: read(key) };
      },
      write(changes) {
        return new Promise((resolve) => {
          if (start === starts) pending.push({ changes, resolve });
          if (lies) resolve();
        });
      },
      figures: () => ({ records: 0, syncs: 0, failures: 0, slowestMs: 0 }),
      close: () => Promise.resolve(),
    };
  }

  return {
    open: () => storeOf(starts),

    sync() {
      const synced = pending;
      pending = [];
      for (const { changes, resolve } of synced) {
        changes.forEach(apply);
        resolve();
      }
    },
    crash() {
      starts += 1;
      pending = [];
    },
    durable: read,
  };
}

/** The store of a disk that syncs at once. */
export function syncing(disk: LossyDisk): Store {
  const store = disk.open();
  return {
    ...store,
    write(changes) {
      const written = store.write(changes);
      disk.sync();
      return written;
    },
  };
}
