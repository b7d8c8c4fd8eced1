import type { Cancel, Clock } from "../../platform/clock.ts";
import type { ClusterStore, StoreChanges, StoreEntry } from "./cluster-store.ts";

/** `revision`: up to which the mirror knows all, when it has taken the change. */
export type MirrorListener = (key: string, entry: StoreEntry | null, revision: number) => void;

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
  /** The store is another one, or knows less: records are lost, and this process never leads. */
  isAhead(): boolean;
  /** Calls it with each change, after the copy has it. */
  subscribe(listener: MirrorListener): Cancel;
  start(): void;
}

interface MirrorParts {
  readonly store: ClusterStore;
  readonly clock: Clock;
  readonly retryMs: number;
}

export function createMirror({ store, clock, retryMs }: MirrorParts): Mirror {
  const entries = new Map<string, StoreEntry>();
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
    isAhead ||= read.revision < revision || (clusterId ?? read.clusterId) !== read.clusterId;
    if (isAhead) return retry();
    clusterId = read.clusterId;
    const found = new Map(read.entries.map((entry) => [entry.key, entry]));
    for (const key of [...entries.keys()]) if (!found.has(key)) set(key, null, read.revision);
    for (const [key, entry] of found) {
      if (entries.get(key)?.modified !== entry.modified) set(key, entry, read.revision);
    }
    advance(read.revision);
    store.watch(revision + 1, receive, retry);
  }

  function retry(): void {
    clock.after(retryMs, () => void load());
  }

  return {
    get: (key) => entries.get(key),
    range: (prefix) => [...entries.values()].filter(({ key }) => key.startsWith(prefix)),
    revision: () => revision,
    lagMs: () => clock.monotonicMs() - heardAtMs,
    reached: (wanted) =>
      wanted <= revision
        ? Promise.resolve()
        : new Promise((resolve) => {
            awaited = [...awaited, { revision: wanted, resolve }];
          }),
    isAhead: () => isAhead,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: () => void load(),
  };
}
