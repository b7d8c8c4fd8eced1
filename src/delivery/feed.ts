import type { CurrentState } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import { changeKey, type StateChange } from "../domain/change.ts";
import type { FleetEvent } from "../domain/event.ts";
import { clip } from "../domain/foreign-text.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createRecurringProblem } from "../platform/log-bounds.ts";
import { createEventQueue, type EventQueue, type QueuedEvent, type ShowEvent } from "./event-queue.ts";

/** Of the source or robot with lost events, in a log line; in characters. */
const LONGEST_NAME = 128;

/** Bounds of the queue of one northbound. */
export interface QueueLimits {
  /** Changed keys; beyond it the northbound begins again from a snapshot. */
  readonly changes: number;
  /**
   * Events of robots, and events of commands. Beyond it, the oldest of the robot or source with the most are
   * lost.
   */
  readonly events: number;
  /** Changes, and events, handed over in one turn of the event loop. */
  readonly perTurn: number;
}

/** A batch to be released when it has arrived. */
export interface Slice extends Batch {
  /** Its events, as the queue has them. */
  readonly held: readonly QueuedEvent[];
}

/** Whether it has no content, as a snapshot of an empty fleet. */
export function isEmpty(slice: Slice): boolean {
  return slice.changes.length === 0 && slice.events.length === 0;
}

/** The waiting changes and events of one northbound. */
export interface Feed {
  pushChange(key: string, change: StateChange): void;
  pushEvent(event: FleetEvent): void;
  /** The next slice. Its changes leave the feed; its events and evictions stay until they are released. */
  take(): Slice;
  /** This slice has arrived. */
  release(slice: Slice): void;
  /** Its changes have arrived. No further events are handed over until `releaseEvents`. */
  releaseChanges(slice: Slice): void;
  /** So many of its events, from the first on, have arrived. The others wait again. */
  releaseEvents(slice: Slice, arrived: number): void;
  /**
   * The northbound is reached, or is not. Begins again from a snapshot; events stay, and are not handed over
   * before `setEventsOpen`.
   */
  setOpen(isOpen: boolean): void;
  /** See `EventQueue.setOpen`. */
  setEventsOpen(isOpen: boolean, show?: ShowEvent): void;
  hasWork(): boolean;
  eventsQueued(): number;
  /** Whether events were lost within the last half minute. */
  isLosing(): boolean;
  figures(): Readonly<Record<string, number>>;
}

export interface FeedParts {
  /** The fleet state, which is read again whenever something is handed over. */
  readonly state: CurrentState;
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly log: Log;
}

/** @param events the queue of its events; absent: one in memory */
export function createFeed(
  name: string,
  limits: QueueLimits,
  { state, clock, log }: FeedParts,
  events: EventQueue = createEventQueue(limits.events),
): Feed {
  const changes = createChangeQueue(limits.changes, state);
  let droppedWhenLogged = 0;
  /** The slice of which only the changes are known to have arrived. */
  let awaitingEvents: Slice | null = null;
  const losing = createRecurringProblem(clock, () => {
    const lost = events.dropped - droppedWhenLogged;
    droppedWhenLogged = events.dropped;
    log.info({ northbound: name, lost }, "events are not lost any more");
  });

  function releaseEvents(slice: Slice, arrived: number): void {
    events.release(slice.held.slice(0, arrived));
    // The events of a closed connection wait again already.
    if (awaitingEvents !== slice) return;
    awaitingEvents = null;
    if (arrived < slice.held.length) events.recall();
  }

  return {
    pushChange: changes.push,
    pushEvent(event) {
      const of = events.push(event);
      if (of === null || !losing.note()) return;
      const fields = { northbound: name, limit: limits.events, of: clip(of, LONGEST_NAME) };
      log.warn(fields, "event queue is full: the oldest events are lost");
    },
    take() {
      const taken: StateChange[] = [];
      changes.take(limits.perTurn, taken);
      if (!changes.isInSnapshot) events.stateIsPublished();
      const held = awaitingEvents === null ? events.peek(limits.perTurn) : [];
      const slice = { changes: taken, events: held.map(({ event }) => event), held };
      return changes.isInSnapshot ? { ...slice, isInSnapshot: true } : slice;
    },
    release(slice) {
      changes.arrived(slice.changes);
      events.release(slice.held);
    },
    releaseChanges(slice) {
      changes.arrived(slice.changes);
      if (slice.held.length > 0) awaitingEvents = slice;
    },
    releaseEvents,
    setOpen(isOpen) {
      changes.restart();
      awaitingEvents = null;
      if (!isOpen) events.setOpen(false);
    },
    setEventsOpen(isOpen, show) {
      events.setOpen(isOpen, show);
      // An unfinished snapshot reports its end itself.
      if (isOpen && !changes.isInSnapshot) events.stateIsPublished();
    },
    hasWork: () => changes.length > 0 || (awaitingEvents === null && events.hasReady()),
    eventsQueued: () => events.length,
    isLosing: losing.isRecurring,
    figures: () => ({
      changesQueued: changes.length,
      changesSkipped: changes.skipped,
      eventsQueued: events.length,
      eventsDropped: events.dropped,
      ...events.figures(),
    }),
  };
}

/**
 * State on its way to one northbound: the newest change of each key, in the order of waiting. A change is
 * read again when it is handed out, so that no northbound gets an older value, or a better quality, than is
 * known.
 */
interface ChangeQueue {
  push(key: string, change: StateChange): void;
  /** Moves up to `most` changes into `changes`. */
  take(most: number, changes: StateChange[]): void;
  /** These changes have arrived. */
  arrived(changes: readonly StateChange[]): void;
  /**
   * Drops the waiting changes, and begins again from a snapshot. Removals stay until they have arrived.
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
function createChangeQueue(limit: number, state: CurrentState): ChangeQueue {
  let newest = new Map<string, StateChange>();
  /** Removals that wait, and those that were handed out and may not have arrived. */
  const evicted = new Map<string, StateChange>();
  const evictionsUnderWay = new Map<string, StateChange>();
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
      evictionsUnderWay.set(key, change);
      changes.push(change);
    }
  }

  return {
    push(key, change) {
      if (isRemoval(change)) return evict(key, change);
      // The key is in use again. Reading the size of an empty map is cheaper than looking for a key.
      if (evicted.size > 0) evicted.delete(key);
      if (evictionsUnderWay.size > 0) evictionsUnderWay.delete(key);
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
      if (evictionsUnderWay.size === 0) return;
      for (const change of changes) if (isRemoval(change)) evictionsUnderWay.delete(changeKey(change));
    },
    restart() {
      for (const [key, change] of evictionsUnderWay) evicted.set(key, change);
      evictionsUnderWay.clear();
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

/** No snapshot shows what was removed. */
function isRemoval({ kind }: StateChange): boolean {
  return kind === "task_chain_evicted" || kind === "station_removed";
}
