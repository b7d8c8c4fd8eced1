import type { StateChange } from "../domain/change.ts";
import type { TaskChain } from "../domain/mission.ts";
import type { Quality, Stamp } from "../domain/observed.ts";
import type { QualityReader } from "./quality-reader.ts";

interface Entry {
  chain: TaskChain;
  stamp: Stamp;
  confirmedAtMs: number;
  doubtedSinceMs: number | null;
  published: Quality;
}

/** The registry of recent task chains. */
export interface TaskChainRegistry {
  /**
   * The same object as last time only confirms the chain. A new chain may evict another; the eviction is a
   * change too.
   */
  receive(chain: TaskChain, receivedAtMs: number, nowMs: number, changes: StateChange[]): void;
  /** From now on changes may be missed. */
  doubt(nowMs: number): void;
  /** Adds every chain whose quality has changed. */
  republish(nowMs: number, changes: StateChange[]): void;
  /** Adds every chain. */
  describe(nowMs: number, changes: StateChange[]): void;
  current(chainId: number, nowMs: number): StateChange | undefined;
  /** How many were evicted to make room. */
  readonly evicted: number;
  readonly size: number;
}

/**
 * Keeps at most `limit` chains and evicts the oldest, finished ones first. A finished chain no longer
 * changes, so it stays good without being polled; the others age like polled values.
 */
export function createTaskChainRegistry(limit: number, reader: QualityReader): TaskChainRegistry {
  const entries = new Map<number, Entry>();
  /** The finished chains, in the order in which they finished. */
  const finished = new Set<number>();
  let evicted = 0;

  const qualityOf = (entry: Entry, nowMs: number): Quality =>
    entry.chain.finished ? "good" : reader.ofPolled(entry.confirmedAtMs, entry.doubtedSinceMs, nowMs);

  function republishOne(entry: Entry, nowMs: number, changes: StateChange[]): void {
    const quality = qualityOf(entry, nowMs);
    if (quality === entry.published) return;
    entry.published = quality;
    changes.push(asChange(entry, quality));
  }

  function makeRoom(changes: StateChange[]): void {
    const [victim] = finished.size > 0 ? finished : entries.keys();
    if (victim === undefined) return;
    entries.delete(victim);
    finished.delete(victim);
    evicted += 1;
    changes.push({ kind: "task_chain_evicted", chainId: victim });
  }

  return {
    receive(chain, receivedAtMs, nowMs, changes) {
      const known = entries.get(chain.chainId);
      // The same object means that nothing changed, as for a robot's presence.
      if (known?.chain === chain) {
        known.confirmedAtMs = nowMs;
        known.doubtedSinceMs = null;
        republishOne(known, nowMs, changes);
        return;
      }
      if (known === undefined && entries.size >= limit) makeRoom(changes);
      const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs };
      const entry: Entry = { chain, stamp, confirmedAtMs: nowMs, doubtedSinceMs: null, published: "good" };
      entry.published = qualityOf(entry, nowMs);
      entries.set(chain.chainId, entry);
      if (!chain.finished) finished.delete(chain.chainId);
      else finished.add(chain.chainId);
      changes.push(asChange(entry, entry.published));
    },
    doubt(nowMs) {
      for (const entry of entries.values()) entry.doubtedSinceMs ??= nowMs;
    },
    republish(nowMs, changes) {
      for (const entry of entries.values()) republishOne(entry, nowMs, changes);
    },
    describe(nowMs, changes) {
      for (const entry of entries.values()) changes.push(asChange(entry, qualityOf(entry, nowMs)));
    },
    current(chainId, nowMs) {
      const entry = entries.get(chainId);
      return entry === undefined ? undefined : asChange(entry, qualityOf(entry, nowMs));
    },
    get evicted() {
      return evicted;
    },
    get size() {
      return entries.size;
    },
  };
}

function asChange(entry: Entry, quality: Quality): StateChange {
  const { chain, stamp } = entry;
  return { kind: "task_chain", chainId: chain.chainId, observed: { value: chain, stamp, quality } };
}
