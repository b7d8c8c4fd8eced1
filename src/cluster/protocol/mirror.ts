import { type Cancel, type Clock, every } from "../../platform/clock.ts";
import { createTimeSlices } from "../../platform/loop-time.ts";
import type { ClusterStore, StoreChanges, StoreEntry, StorePut } from "./cluster-store.ts";
import { BEAT_KEY, MEMBERS, TABLES } from "./records.ts";

/** `revision`: up to which the mirror knows all, when it has taken the change. */
export type MirrorListener = (key: string, entry: StoreEntry | null, revision: number) => void;

/** A store, and how much of it was seen. */
export interface SeenStore {
  readonly clusterId: string;
  readonly revision: number;
}

/** A key, and what it has become; null: it was removed. */
export type MirrorChange = readonly [key: string, entry: StoreEntry | null];

/** What this box has of the store on its disk, over its restarts. Nothing of it throws. */
export interface DiskMirror {
  /** What it had when the process began, in the order of the keys. It is read once. */
  take(): readonly StoreEntry[];
  /** How much of the store was seen when the process began; null: nothing. */
  readonly before: SeenStore | null;
  /** The store has lost records, and no operator has confirmed it. */
  isLost(): boolean;
  /** Takes changes, and how much was seen with them, soon. Nobody waits for it. */
  keep(changes: readonly MirrorChange[], seen: SeenStore): void;
  /** The store is another one, or knows less than was seen. */
  lose(reason: string): void;
}

/**
 * A copy of the store that follows it: what was read last, and all changes since. Before the store has been
 * read, it is what this box has had on its disk: then it is shown, and nothing rests on it.
 */
export interface Mirror {
  get(key: string): StoreEntry | undefined;
  range(prefix: string): readonly StoreEntry[];
  /** The revision up to which it knows all; 0: the store has not been read yet. */
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
  readonly disk: DiskMirror;
}

/** How often it is noted how much was seen. A loss of less is not noticed when all members start anew. */
const NOTE_MS = 5_000;

export function createMirror({ store, clock, retryMs, disk }: MirrorParts): Mirror {
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
    const lasting = batch.changes.filter(({ key }) => isLasting(key));
    if (lasting.length > 0) keep(lasting.map(({ key, entry }) => [key, entry]));
  }

  async function begin(): Promise<void> {
    const at = disk.before?.revision ?? 0;
    await inSlices(disk.take(), (entry) => set(entry.key, entry, at));
    await load();
  }

  async function load(): Promise<void> {
    const read = await store.read("");
    if (read === null) return retry();
    const known = clusterId === null ? disk.before : { clusterId, revision };
    if (known !== null && lacks(read, known)) lose(read, known);
    // It never leads again, and an operator confirms the loss while no gateway runs.
    if (isAhead) return;
    const changes = entries.changesTo(read.entries);
    await inSlices(changes, ([key, entry]) => set(key, entry, read.revision));
    // Together: what was seen is noted of both.
    clusterId = read.clusterId;
    advance(read.revision);
    keep(changes.filter(([key]) => isLasting(key)));
    store.watch(revision + 1, receive, retry);
  }

  function lose(read: SeenStore, known: SeenStore): void {
    if (isAhead) return;
    isAhead = true;
    const found =
      read.clusterId === known.clusterId
        ? `knows revision ${read.revision}, and this box has seen ${known.revision}`
        : "is another one than this box has seen";
    disk.lose(`the store of the cluster ${found}`);
  }

  function keep(changes: readonly MirrorChange[]): void {
    if (clusterId !== null && !isAhead) disk.keep(changes, { clusterId, revision });
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
    isAhead: () => isAhead || disk.isLost(),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start(ended) {
      void begin();
      every(clock, NOTE_MS, ended, () => keep([]));
    },
  };
}

/** A process that starts has a long journal. */
async function inSlices<Item>(items: Iterable<Item>, take: (item: Item) => void): Promise<void> {
  const slices = createTimeSlices();
  for (const item of items) {
    take(item);
    const slice = slices.next();
    if (slice !== undefined) await slice;
  }
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
    /** What makes them these, and no others. */
    changesTo(wanted: readonly StoreEntry[]): readonly MirrorChange[] {
      const keys = new Set(wanted.map(({ key }) => key));
      const present = Array.from(groups.values(), (group) => [...group.keys()]).flat();
      const gone = present.filter((key) => !keys.has(key));
      const changed = wanted.filter((entry) => !isSame(groupOf(entry.key).get(entry.key), entry));
      return [
        ...gone.map((key): MirrorChange => [key, null]),
        ...changed.map((entry): MirrorChange => [entry.key, entry]),
      ];
    },
    /** Among them are all whose keys begin so. */
    values: (prefix: string): Iterable<StoreEntry> => {
      const isOfTable = prefix.startsWith(TABLES) && prefix.includes("/", TABLES.length);
      if (isOfTable || !TABLES.startsWith(prefix.slice(0, TABLES.length))) return groupOf(prefix).values();
      return Array.from(groups.values(), (group) => [...group.values()]).flat();
    },
  };
}

/** By the value too: a store that was restored gives a revision twice, and the disk may have the first. */
function isSame(known: StoreEntry | undefined, { value, created, modified }: StoreEntry): boolean {
  return known?.modified === modified && known.created === created && known.value === value;
}

/** What says that a member is there is old when it is read again. */
function isLasting(key: string): boolean {
  return key !== BEAT_KEY && !key.startsWith(MEMBERS);
}

function lacks(read: SeenStore, known: SeenStore): boolean {
  return read.clusterId !== known.clusterId || read.revision < known.revision;
}

/** A key, as this process knows it. `value` null: there is none. */
interface KnownKey {
  readonly value: string | null;
  /** 0: it is not there. */
  readonly modified: number;
}

/** What the mirror has, and what this process has written since. */
export interface KnownKeys {
  get(key: string): KnownKey;
  /** The keys with this prefix, in order. */
  range(prefix: string): readonly string[];
  /** Whether this process has written the key after this revision, as far as it knows. */
  isWrittenAfter(key: string, revision: number): boolean;
  /** The store has taken these puts at this revision. */
  note(puts: readonly StorePut[], revision: number): void;
}

export function createKnownKeys(mirror: Mirror): KnownKeys {
  /** With the revision of the write. */
  const written = new Map<string, KnownKey & { readonly revision: number }>();

  mirror.subscribe((key, _entry, revision) => {
    const own = written.get(key);
    if (own !== undefined && own.revision <= revision) written.delete(key);
  });

  return {
    get(key) {
      const own = written.get(key);
      if (own !== undefined && own.revision > mirror.revision()) return own;
      return mirror.get(key) ?? { value: null, modified: 0 };
    },
    range(prefix) {
      const own = [...written.keys()].filter((key) => key.startsWith(prefix));
      return [...new Set([...mirror.range(prefix).map(({ key }) => key), ...own])].sort();
    },
    isWrittenAfter: (key, revision) => (written.get(key)?.revision ?? 0) > revision,
    note(puts, revision) {
      // The watch may be faster than the answer to the write: nothing would forget these keys later.
      if (revision <= mirror.revision()) return;
      for (const { key, value } of puts) {
        written.set(key, { value, modified: value === null ? 0 : revision, revision });
      }
    },
  };
}
