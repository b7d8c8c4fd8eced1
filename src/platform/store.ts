import { open } from "lmdb";

/** One record to write; `value` undefined removes it. Values are what JSON can say. */
export interface StoreChange {
  readonly key: string;
  readonly value: unknown;
}

/** Which records, in the order of their keys. */
export interface StoreRange {
  /** From this key on, itself included. */
  readonly from: string;
  /** Up to this key, itself left out. */
  readonly to: string;
  readonly limit?: number;
}

/** How hard the disk has worked. `records / syncs` is what group commit is worth. */
export interface StoreFigures {
  readonly records: number;
  readonly syncs: number;
  readonly failures: number;
}

/**
 * Records that survive a crash. Writes of callers that come while a sync is under
 * way share the next one: group commit, without a delay of its own.
 */
export interface Store {
  /** What was written last, once its write has resolved. */
  get(key: string): unknown;
  range(range: StoreRange): Iterable<StoreChange>;
  /**
   * Writes all of `changes` or none. Resolves when they are on the disk; rejects
   * with StoreFailed when they may not be.
   */
  write(changes: readonly StoreChange[]): Promise<void>;
  figures(): StoreFigures;
  /** Waits for what is being written. What comes after is refused. */
  close(): Promise<void>;
}

/** The disk is full, broken or gone. */
export class StoreFailed extends Error {
  override readonly name = "StoreFailed";
}

interface Waiting {
  readonly changes: readonly StoreChange[];
  readonly resolve: () => void;
  readonly reject: (cause: Error) => void;
}

/** As long as lmdb allows without a rebuild, less a margin for its own encoding. */
const LONGEST_KEY_BYTES = 1_900;

/**
 * Opens the directory `path` (made when it is missing) as an environment of its own.
 * Throws StoreFailed when it cannot be used.
 */
export function openStore(path: string): Store {
  const database = openDatabase(path);
  const figures = { records: 0, syncs: 0, failures: 0 };
  let waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;
  let closed = false;

  async function drain(): Promise<void> {
    // The turn goes on first: its other writes belong to the same commit.
    await null;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        await commit(group);
        figures.syncs += 1;
        for (const each of group) each.resolve();
      } catch (error) {
        figures.failures += 1;
        for (const each of group) each.reject(new StoreFailed(`cannot write to ${path}`, { cause: error }));
      }
    }
    writing = null;
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    const changes = group.flatMap((each) => each.changes);
    figures.records += changes.length;
    try {
      // One transaction: all of it or nothing. What the single puts promise says nothing of a failure.
      await database.batch(() => {
        for (const { key, value } of changes) {
          if (value === undefined) void database.remove(key);
          else void database.put(key, value);
        }
      });
    } catch (error) {
      throw await commitCause(error);
    }
    await database.flushed;
  }

  return {
    get: (key) => database.get(key),
    *range({ from, to, limit }) {
      const options = limit === undefined ? { start: from, end: to } : { start: from, end: to, limit };
      for (const { key, value } of database.getRange(options)) yield { key, value };
    },
    write(changes) {
      if (closed) return Promise.reject(new StoreFailed(`${path} is closed`));
      const long = changes.find(({ key }) => Buffer.byteLength(key) > LONGEST_KEY_BYTES);
      if (long !== undefined) return Promise.reject(new StoreFailed("a key is too long"));
      return new Promise((resolve, reject) => {
        waiting.push({ changes, resolve, reject });
        writing ??= drain();
      });
    },
    figures: () => ({ ...figures }),
    async close() {
      if (closed) return;
      closed = true;
      await writing;
      await database.close();
    },
  };
}

function openDatabase(path: string) {
  try {
    return open<unknown, string>({
      path,
      noSubdir: false,
      encoding: "json",
      // A commit counts only when its own sync is done: the next one waits for it.
      overlappingSync: false,
      // The transactions that it begins by itself reject a promise that nobody holds when the disk fails: the process would end.
      eventTurnBatching: false,
    });
  } catch (error) {
    throw new StoreFailed(`cannot open the store ${path}`, { cause: error });
  }
}

/** lmdb hides the disk's error behind a promise of its own, which nobody else would handle. */
async function commitCause(reason: unknown): Promise<unknown> {
  if (!(reason instanceof Error) || !("commitError" in reason)) return reason;
  try {
    await reason.commitError;
    return reason;
  } catch (cause) {
    return cause;
  }
}
