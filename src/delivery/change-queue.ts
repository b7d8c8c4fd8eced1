import type { CurrentState } from "../contracts/fleet-view.ts";
import { changeKey, type StateChange } from "../domain/change.ts";

/**
 * State on its way to one northbound: the newest change of each key, in the order of waiting. A change is
 * read again when it is handed out, so that no northbound gets an older value, or a better quality, than is
 * known.
 */
export interface ChangeQueue {
  push(key: string, change: StateChange): void;
  /** Moves up to `most` changes into `changes`. */
  take(most: number, changes: StateChange[]): void;
  /** These changes have arrived. */
  arrived(changes: readonly StateChange[]): void;
  /**
   * Drops the waiting changes, and begins again from a snapshot. Evictions stay until they have arrived,
   * because no snapshot shows what was removed.
   */
  restart(): void;
  readonly length: number;
  /** Whether a part of a snapshot still waits. */
  readonly isInSnapshot: boolean;
  /** How many changes an overflow dropped for a snapshot. */
  readonly skipped: number;
}

/**
 * Holds at most `limit` keys beside one snapshot. A queue that overflows is dropped as a whole, and begins
 * again from a snapshot when the snapshot before is done. So a slow reader still gets the newest state.
 */
export function createChangeQueue(limit: number, state: CurrentState): ChangeQueue {
  let newest = new Map<string, StateChange>();
  /** Evictions that wait, and those that were handed out and may not have arrived. */
  const evicted = new Map<string, StateChange>();
  const underWay = new Map<string, StateChange>();
  let backlog: readonly StateChange[] = [];
  let backlogAt = 0;
  let snapshotDue = true;
  let skipped = 0;

  function takeBacklog(end: number, changes: StateChange[]): void {
    for (; backlogAt < backlog.length && changes.length < end; backlogAt += 1) {
      const change = backlog[backlogAt];
      if (change !== undefined) changes.push(state.current(change));
    }
    if (backlogAt < backlog.length) return;
    backlog = [];
    backlogAt = 0;
  }

  function takeNewest(end: number, changes: StateChange[]): void {
    if (newest.size <= end - changes.length) {
      for (const change of newest.values()) changes.push(state.current(change));
      // A new map instead of `clear`: the contents of an old map outlive a collection of the young
      // generation.
      newest = new Map();
      return;
    }
    for (const [key, change] of newest) {
      if (changes.length >= end) return;
      newest.delete(key);
      changes.push(state.current(change));
    }
  }

  function evict(key: string, change: StateChange): void {
    newest.delete(key);
    evicted.set(key, change);
    if (evicted.size <= limit) return;
    for (const oldest of evicted.keys()) {
      skipped += 1;
      evicted.delete(oldest);
      return;
    }
  }

  /** Last, because the rest of a snapshot may still show what was evicted since. */
  function takeEvicted(end: number, changes: StateChange[]): void {
    for (const [key, change] of evicted) {
      if (changes.length >= end) return;
      evicted.delete(key);
      underWay.set(key, change);
      changes.push(change);
    }
  }

  return {
    push(key, change) {
      if (change.kind === "task_chain_evicted") return evict(key, change);
      // The key is in use again. Reading the size of an empty map is cheaper than looking for a key.
      if (evicted.size > 0) evicted.delete(key);
      if (underWay.size > 0) underWay.delete(key);
      // The coming snapshot will contain this change.
      if (snapshotDue) return;
      newest.set(key, change);
      if (newest.size <= limit) return;
      skipped += newest.size;
      newest.clear();
      snapshotDue = true;
    },
    take(most, changes) {
      const end = changes.length + most;
      if (snapshotDue && backlog.length === 0) {
        backlog = state.snapshot();
        snapshotDue = false;
      }
      takeBacklog(end, changes);
      takeNewest(end, changes);
      takeEvicted(end, changes);
    },
    arrived(changes) {
      if (underWay.size === 0) return;
      for (const change of changes)
        if (change.kind === "task_chain_evicted") underWay.delete(changeKey(change));
    },
    restart() {
      for (const [key, change] of underWay) evicted.set(key, change);
      underWay.clear();
      newest.clear();
      backlog = [];
      backlogAt = 0;
      snapshotDue = true;
    },
    get length() {
      return newest.size + evicted.size + backlog.length - backlogAt + (snapshotDue ? 1 : 0);
    },
    get isInSnapshot() {
      return snapshotDue || backlog.length > 0;
    },
    get skipped() {
      return skipped;
    },
  };
}
