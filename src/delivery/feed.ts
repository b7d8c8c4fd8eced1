import type { CurrentState } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { StateChange } from "../domain/change.ts";
import { clip } from "../domain/clip.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createRecurringProblem } from "../platform/recurring-problem.ts";
import { createChangeQueue } from "./change-queue.ts";
import { createEventQueue, type EventQueue, type QueuedEvent } from "./event-queue.ts";

/** Of the source or robot whose events are lost, in a log line. */
const LONGEST_NAME = 128;

/** How much may wait for one northbound. */
export interface QueueLimits {
  /** Keys with news; beyond it the northbound begins again from a snapshot. */
  readonly changes: number;
  /**
   * Events of robots, and events of commands. Beyond it, the oldest of the robot or source with most are
   * lost.
   */
  readonly events: number;
  /** Changes, and events, handed over in one turn of the event loop. */
  readonly perTurn: number;
}

/** A batch that can be released when it has arrived. */
export interface Slice extends Batch {
  /** Its events, as the queue has them. */
  readonly held: readonly QueuedEvent[];
}

/** Whether it has nothing to hand over, as a snapshot of an empty fleet. */
export function isEmpty(slice: Slice): boolean {
  return slice.changes.length === 0 && slice.events.length === 0;
}

/** All that waits for one northbound. */
export interface Feed {
  pushChange(key: string, change: StateChange): void;
  pushEvent(event: FleetEvent): void;
  /** The next slice. Its changes leave the feed; its events and evictions stay until they are released. */
  take(): Slice;
  /** This slice has arrived. */
  release(slice: Slice): void;
  /** The northbound is reached from now on, or is not. Begins again from a snapshot; events stay. */
  setOpen(isOpen: boolean): void;
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

/** @param events where its events wait; left out: in memory */
export function createFeed(
  name: string,
  limits: QueueLimits,
  { state, clock, log }: FeedParts,
  events: EventQueue = createEventQueue(limits.events),
): Feed {
  const changes = createChangeQueue(limits.changes, state);
  let droppedWhenLogged = 0;
  const losing = createRecurringProblem(clock, () => {
    const lost = events.dropped - droppedWhenLogged;
    droppedWhenLogged = events.dropped;
    log.info({ northbound: name, lost }, "events are not lost any more");
  });

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
      if (!changes.isInSnapshot) events.stateIsTold();
      const held = events.peek(limits.perTurn);
      return { changes: taken, events: held.map(({ event }) => event), held };
    },
    release(slice) {
      changes.arrived(slice.changes);
      events.release(slice.held);
    },
    setOpen(isOpen) {
      changes.restart();
      events.setOpen(isOpen);
    },
    hasWork: () => changes.length > 0 || events.hasReady(),
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
