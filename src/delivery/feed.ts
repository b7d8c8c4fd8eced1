import type { CurrentState } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { FleetNotice, StateChange } from "../domain/change.ts";
import { clip } from "../domain/clip.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createRecurringProblem } from "../platform/recurring-problem.ts";
import { createChangeQueue } from "./change-queue.ts";
import { createEventQueue, type QueuedEvent } from "./event-queue.ts";

/** Of the sender or robot that loses events, in a log line. */
const LONGEST_NAME = 128;

/** How much may wait for one northbound. */
export interface QueueLimits {
  /** Keys with news; beyond it the northbound begins again from a snapshot. */
  readonly changes: number;
  /** Notices of robots, and those of commands; beyond it the oldest of who has most are lost, and counted. */
  readonly notices: number;
  /** Changes, and notices, handed over in one turn of the event loop. */
  readonly perTurn: number;
}

/** A batch with the way to say that its notices have arrived. */
export interface Slice extends Batch {
  /** Its notices, as the queue knows them. */
  readonly held: readonly QueuedEvent[];
}

/** Whether there is nothing in it to hand over: a snapshot of an empty fleet. */
export function isEmpty(slice: Slice): boolean {
  return slice.changes.length === 0 && slice.notices.length === 0;
}

/** All that waits for one northbound. */
export interface Feed {
  pushChange(key: string, change: StateChange): void;
  pushNotice(notice: FleetNotice): void;
  /** The next slice. Its changes are gone from the feed; its notices and evictions stay until they are released. */
  take(): Slice;
  /** This slice has arrived. */
  release(slice: Slice): void;
  /** Begins again from a snapshot. Notices stay. */
  restart(): void;
  hasWork(): boolean;
  noticesQueued(): number;
  /** Whether notices were lost within the last half minute. */
  isLosing(): boolean;
  figures(): Readonly<Record<string, number>>;
}

/** What a feed needs of the house. */
export interface FeedParts {
  /** The fleet state, which is read again whenever something is handed over. */
  readonly state: CurrentState;
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly log: Log;
}

export function createFeed(name: string, limits: QueueLimits, { state, clock, log }: FeedParts): Feed {
  const changes = createChangeQueue(limits.changes, state);
  const notices = createEventQueue(limits.notices);
  let droppedWhenLogged = 0;
  const losing = createRecurringProblem(clock, () => {
    const lost = notices.dropped - droppedWhenLogged;
    droppedWhenLogged = notices.dropped;
    log.info({ northbound: name, lost }, "events are not lost any more");
  });

  return {
    pushChange: changes.push,
    pushNotice(notice) {
      const of = notices.push(notice);
      if (of === null || !losing.note()) return;
      const fields = { northbound: name, limit: limits.notices, of: clip(of, LONGEST_NAME) };
      log.warn(fields, "event queue is full: the oldest events are lost");
    },
    take() {
      const taken: StateChange[] = [];
      changes.take(limits.perTurn, taken);
      const held = notices.peek(limits.perTurn);
      return { changes: taken, notices: held.map(({ notice }) => notice), held };
    },
    release(slice) {
      changes.arrived(slice.changes);
      notices.release(slice.held);
    },
    restart: changes.restart,
    hasWork: () => changes.length > 0 || notices.length > 0,
    noticesQueued: () => notices.length,
    isLosing: losing.isRecurring,
    figures: () => ({
      changesQueued: changes.length,
      changesSkipped: changes.skipped,
      noticesQueued: notices.length,
      noticesDropped: notices.dropped,
    }),
  };
}
