import type { StateChange } from "../domain/change.ts";

/** Where a queue reads what is true at the moment it hands something out. */
export interface CurrentState {
  /** Every value there is. */
  snapshot(): readonly StateChange[];
  /** The value that `change` is about, as it stands now. */
  current(change: StateChange): StateChange;
}

/**
 * State on its way to one northbound: the newest change of each key, oldest news first.
 * What is handed out is read again at that moment, so nothing that waited is older, or
 * shown as better, than what is known.
 */
export interface ChangeQueue {
  push(key: string, change: StateChange): void;
  /** Moves up to `most` changes into `changes`. */
  take(most: number, changes: StateChange[]): void;
  /** Forgets what waits and begins again from everything there is, when next asked. */
  restart(): void;
  readonly length: number;
  /** Changes that an overflow let go of; a snapshot took their place. */
  readonly skipped: number;
}

/**
 * Holds at most `limit` keys beside one snapshot. A queue that overflows is dropped as a
 * whole and begins again from a snapshot once the one before is through, so the reader
 * ends with the truth however slow it is.
 */
export function createChangeQueue(limit: number, state: CurrentState): ChangeQueue {
  const newest = new Map<string, StateChange>();
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
      newest.clear();
      return;
    }
    for (const [key, change] of newest) {
      if (changes.length >= end) return;
      newest.delete(key);
      changes.push(state.current(change));
    }
  }

  return {
    push(key, change) {
      // The snapshot to come will hold this one.
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
    },
    restart() {
      newest.clear();
      backlog = [];
      backlogAt = 0;
      snapshotDue = true;
    },
    get length() {
      return newest.size + backlog.length - backlogAt + (snapshotDue ? 1 : 0);
    },
    get skipped() {
      return skipped;
    },
  };
}
