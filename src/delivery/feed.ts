import type { CurrentState } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { StateChange } from "../domain/change.ts";
import { clip } from "../domain/clip.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createRecurringProblem } from "../platform/recurring-problem.ts";
import { createChangeQueue } from "./change-queue.ts";
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
  let underWay: Slice | null = null;
  const losing = createRecurringProblem(clock, () => {
    const lost = events.dropped - droppedWhenLogged;
    droppedWhenLogged = events.dropped;
    log.info({ northbound: name, lost }, "events are not lost any more");
  });

  function releaseEvents(slice: Slice, arrived: number): void {
    events.release(slice.held.slice(0, arrived));
    // The events of a closed connection wait again already.
    if (underWay !== slice) return;
    underWay = null;
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
      const held = underWay === null ? events.peek(limits.perTurn) : [];
      return { changes: taken, events: held.map(({ event }) => event), held };
    },
    release(slice) {
      changes.arrived(slice.changes);
      events.release(slice.held);
    },
    releaseChanges(slice) {
      changes.arrived(slice.changes);
      if (slice.held.length > 0) underWay = slice;
    },
    releaseEvents,
    setOpen(isOpen) {
      changes.restart();
      underWay = null;
      if (!isOpen) events.setOpen(false);
    },
    setEventsOpen(isOpen, show) {
      events.setOpen(isOpen, show);
      // An unfinished snapshot reports its end itself.
      if (isOpen && !changes.isInSnapshot) events.stateIsPublished();
    },
    hasWork: () => changes.length > 0 || (underWay === null && events.hasReady()),
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
