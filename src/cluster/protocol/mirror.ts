import { type Cancel, type Clock, every } from "../../platform/clock.ts";
import { createTimeSlices } from "../../platform/loop-time.ts";
import type { ClusterStore, StoreChanges, StoreEntry } from "./cluster-store.ts";
import { TABLES } from "./records.ts";

/** `revision`: up to which the mirror knows all, when it has taken the change. */
export type MirrorListener = (key: string, entry: StoreEntry | null, revision: number) => void;

/** A store, and how much of it was seen. */
export interface SeenStore {
  readonly clusterId: string;
  readonly revision: number;
}

/** What this box has seen of the store, over its restarts. */
export interface SeenMark {
  /** When the process began; null: nothing. */
  readonly before: SeenStore | null;
  /** The store has lost records, and no operator has confirmed it. */
  isLost(): boolean;
  /** Never throws. */
  note(seen: SeenStore): void;
  /** The store is another one, or knows less than was seen. */
  lose(reason: string, seen: SeenStore): void;
}

/** A copy of the store that follows it: what was read last, and all changes since. */
export interface Mirror {
  get(key: string): StoreEntry | undefined;
  range(prefix: string): readonly StoreEntry[];
  /** The revision up to which it knows all; 0: it knows nothing yet. */
  revision(): number;
  /** Resolves when it knows all up to this revision. */
  reached(revision: number): Promise<void>;
  /** For how long nothing has come from the store, in milliseconds; infinite: nothing ever has. */
  lagMs(): number;
  /** The store is another one, or knows less than was seen. This process never leads. */
  isAhead(): boolean;
  /** Calls it with each change, after the copy has it. */
  subscribe(listener: MirrorListener): Cancel;
  start(ended: AbortSignal): void;
}

interface MirrorParts {
  readonly store: ClusterStore;
  readonly clock: Clock;
  readonly retryMs: number;
  readonly seen: SeenMark;
}

/** How often it is noted how much was seen. A loss of less is not noticed when all members start anew. */
const NOTE_MS = 5_000;

export function createMirror({ store, clock, retryMs, seen }: MirrorParts): Mirror {
  const entries = createEntries();
  const listeners = new Set<MirrorListener>();
  let revision = 0;
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let clusterId: string | null = null;
  let isAhead = false;
  let awaited: readonly { readonly revision: number; readonly resolve: () => void }[] = [];

  function set(key: string, entry: StoreEntry | null, at: number): void {
    if (entry === null) entries.delete(key);
    else entries.set(key, entry);
    for (const listener of listeners) listener(key, entry, at);
  }

  function advance(to: number): void {
    revision = to;
    heardAtMs = clock.monotonicMs();
    const reached = awaited.filter((each) => each.revision <= to);
    awaited = awaited.filter((each) => each.revision > to);
    for (const { resolve } of reached) resolve();
  }

  function receive(batch: StoreChanges): void {
    if (batch.revision <= revision) return;
    for (const { key, entry } of batch.changes) set(key, entry, batch.revision);
    advance(batch.revision);
  }

  async function load(): Promise<void> {
    const read = await store.read("");
    if (read === null) return retry();
    const known = clusterId === null ? seen.before : { clusterId, revision };
    if (known !== null && lacks(read, known)) lose(read, known);
    if (isAhead) return retry();
    const found = new Map(read.entries.map((entry) => [entry.key, entry]));
    // In time slices: a process that starts reads a long journal.
    const slices = createTimeSlices();
    for (const key of entries.keys()) if (!found.has(key)) set(key, null, read.revision);
    for (const [key, entry] of found) {
      if (entries.get(key)?.modified !== entry.modified) set(key, entry, read.revision);
      const slice = slices.next();
      if (slice !== undefined) await slice;
    }
    // Together: what was seen is noted of both.
    clusterId = read.clusterId;
    advance(read.revision);
    store.watch(revision + 1, receive, retry);
  }

  function lose(read: SeenStore, known: SeenStore): void {
    if (isAhead) return;
    isAhead = true;
    const found =
      read.clusterId === known.clusterId
        ? `knows revision ${read.revision}, and this box has seen ${known.revision}`
        : "is another one than this box has seen";
    seen.lose(`the store of the cluster ${found}`, { clusterId: read.clusterId, revision: read.revision });
  }

  function note(): void {
    if (clusterId !== null && !isAhead) seen.note({ clusterId, revision });
  }

  function retry(): void {
    clock.after(retryMs, () => void load());
  }

  return {
    get: (key) => entries.get(key),
    range: (prefix) => [...entries.values(prefix)].filter(({ key }) => key.startsWith(prefix)),
    revision: () => revision,
    lagMs: () => clock.monotonicMs() - heardAtMs,
    reached: (wanted) =>
      wanted <= revision
        ? Promise.resolve()
        : new Promise((resolve) => {
            awaited = [...awaited, { revision: wanted, resolve }];
          }),
    isAhead: () => isAhead || seen.isLost(),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start(ended) {
      void load();
      every(clock, NOTE_MS, ended, note);
    },
  };
}

/** Entries by key. Those of each table are together: a takeover reads some, and not all others for it. */
function createEntries() {
  const groups = new Map<string, Map<string, StoreEntry>>();
  const groupOf = (key: string) => {
    const name = key.startsWith(TABLES) ? key.slice(0, key.indexOf("/", TABLES.length) + 1) : "";
    const found = groups.get(name) ?? new Map<string, StoreEntry>();
    groups.set(name, found);
    return found;
  };
  return {
    get: (key: string) => groupOf(key).get(key),
    set: (key: string, entry: StoreEntry) => void groupOf(key).set(key, entry),
    delete: (key: string) => groupOf(key).delete(key),
    keys: () => Array.from(groups.values(), (group) => [...group.keys()]).flat(),
    /** Among them are all whose keys begin so. */
    values: (prefix: string): Iterable<StoreEntry> => {
      const isOfTable = prefix.startsWith(TABLES) && prefix.includes("/", TABLES.length);
      if (isOfTable || !TABLES.startsWith(prefix.slice(0, TABLES.length))) return groupOf(prefix).values();
      return Array.from(groups.values(), (group) => [...group.values()]).flat();
    },
  };
}

function lacks(read: SeenStore, known: SeenStore): boolean {
  return read.clusterId !== known.clusterId || read.revision < known.revision;
}
