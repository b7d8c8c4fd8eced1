import type { Batch } from "../contracts/link.ts";
import type { FleetNotice, StateChange } from "../domain/change.ts";
import type { Log } from "../platform/log.ts";
import { type CurrentState, createChangeQueue } from "./change-queue.ts";
import { createNoticeQueue } from "./notice-queue.ts";

/** How much may wait for one northbound. */
export interface QueueLimits {
  /** Keys with news; beyond it the northbound begins again from a snapshot. */
  readonly changes: number;
  /** Notices; beyond it the oldest are lost, and counted. */
  readonly notices: number;
  /** Changes, and notices, handed over in one turn of the event loop. */
  readonly perTurn: number;
}

/** A batch with the way to say that its notices have arrived. */
export interface Slice extends Batch {
  /** Number of the first notice that is not in it. */
  readonly nextNotice: number;
}

/** Whether there is nothing in it to hand over: a snapshot of an empty fleet. */
export function isEmpty(slice: Slice): boolean {
  return slice.changes.length === 0 && slice.notices.length === 0;
}

/** All that waits for one northbound. */
export interface Feed {
  pushChange(key: string, change: StateChange): void;
  pushNotice(notice: FleetNotice): void;
  /** The next slice. Its changes are gone from the feed; its notices stay until they are released. */
  take(): Slice;
  /** The notices of this slice have arrived. */
  release(slice: Slice): void;
  /** Begins again from a snapshot. Notices stay. */
  restart(): void;
  hasWork(): boolean;
  noticesQueued(): number;
  figures(): Readonly<Record<string, number>>;
}

export function createFeed(name: string, limits: QueueLimits, state: CurrentState, log: Log): Feed {
  const changes = createChangeQueue(limits.changes, state);
  const notices = createNoticeQueue(limits.notices);
  let droppedWhenLogged = 0;
  let isDropping = false;

  function noteDrops(): void {
    if (isDropping || notices.dropped === droppedWhenLogged) return;
    isDropping = true;
    log.warn({ northbound: name, limit: limits.notices }, "event queue is full: the oldest events are lost");
  }

  function noteRecovery(): void {
    if (!isDropping || notices.length > 0) return;
    log.info(
      { northbound: name, lost: notices.dropped - droppedWhenLogged },
      "event queue is empty again after losing events",
    );
    isDropping = false;
    droppedWhenLogged = notices.dropped;
  }

  return {
    pushChange: changes.push,
    pushNotice(notice) {
      notices.push(notice);
      noteDrops();
    },
    take() {
      const taken: StateChange[] = [];
      changes.take(limits.perTurn, taken);
      const first = notices.peek(limits.perTurn);
      return { changes: taken, notices: first, nextNotice: notices.numberAfter(first.length) };
    },
    release(slice) {
      notices.releaseBefore(slice.nextNotice);
      noteRecovery();
    },
    restart: changes.restart,
    hasWork: () => changes.length > 0 || notices.length > 0,
    noticesQueued: () => notices.length,
    figures: () => ({
      changesQueued: changes.length,
      changesSkipped: changes.skipped,
      noticesQueued: notices.length,
      noticesDropped: notices.dropped,
    }),
  };
}
