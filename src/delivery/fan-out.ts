import type { Batch, Sink } from "../contracts/link.ts";
import { changeKey } from "../domain/change.ts";
import type { Health } from "../platform/component.ts";
import type { Log } from "../platform/log.ts";
import { noTap, type RecorderTap } from "../platform/recorder/recording.ts";
import type { WorkTimes } from "../platform/work-times.ts";
import { createDeliveryTap, type DeliveryTap } from "./delivery-tap.ts";
import type { ShowEvent } from "./event-queue.ts";
import { createFeed, type Feed, type FeedParts, isEmpty, type QueueLimits, type Slice } from "./feed.ts";
import type { Outbox } from "./outbox/outbox.ts";

export interface FanOutParts extends FeedParts {
  /** Records what is handed over; absent: it is not recorded. */
  readonly tap?: RecorderTap;
  /** Times the work of the northbounds; absent: it is not timed. */
  readonly work?: Pick<WorkTimes, "time">;
}

/** Delivers batches to the northbounds, to each at its own pace. */
export interface FanOut {
  /** Queues a batch for every northbound. It is handed over after this turn of the event loop. */
  offer(batch: Batch): void;
  /** Feeds a server northbound, beginning with a snapshot. The returned function detaches it. */
  attachSink(name: string, sink: Sink, limits: QueueLimits): () => void;
  /** A queue from which a link runner reads. With an outbox, events wait there. */
  attachOutlet(name: string, limits: QueueLimits, outbox?: Outbox): Outlet;
  /** The northbounds that lose events now, or have lost some in the last half minute. */
  losing(): readonly string[];
  /**
   * Depths and losses by northbound: `opcua.eventsDropped`. Degraded while events are lost, and for half a
   * minute after.
   */
  health(): Health;
  /** Why nothing is handed over although something waits; null: the queues move. */
  hang(): string | null;
}

interface Subscriber {
  readonly feed: Feed;
  /** Hands over one slice if the northbound can take it. */
  turn(): Turn;
  figures(): Readonly<Record<string, number>>;
}

/** What a northbound got in its turn. */
interface Turn {
  /** Changes and events. */
  readonly handedOver: number;
  /** Whether it needs another turn. */
  readonly isMore: boolean;
}

const NOTHING: Turn = { handedOver: 0, isMore: false };

/** The next turn of the event loop should come at once. */
const TURN_LIMIT_MS = 30_000;
/** The northbounds share so much of a turn of the event loop, plus the slice that has begun. */
const TURN_MS = 8;
/** A link writes its slice when the fan-out has returned, so its time is not seen here: its length counts. */
const TURN_LENGTH = 100;

/**
 * Each northbound has a bounded queue of its own, and gets a bounded slice at a time, one after another. So a
 * slow broker slows no other northbound. A burst does not block the event loop: the northbounds that have not
 * had their slice when the turn is over are the first of the next turn.
 */
export function createFanOut(parts: FanOutParts): FanOut {
  const { clock, log, work, tap = noTap } = parts;
  const published = createDeliveryTap(tap);
  const subscribers = new Map<string, Subscriber>();
  /** Since when a turn is scheduled, by the monotonic clock; null: none is. */
  let scheduledAtMs: number | null = null;
  /** The northbounds that have not had their slice, and whether one of the others needs a further one. */
  let round = subscribers.entries();
  let isMore = false;
  /** The round goes on from an earlier turn: the first ones may have got something new since their slice. */
  let isResumed = false;

  function schedule(): void {
    if (scheduledAtMs !== null) return;
    scheduledAtMs = clock.monotonicMs();
    setImmediate(flush);
  }

  function flush(): void {
    scheduledAtMs = null;
    const endsAtMs = clock.monotonicMs() + TURN_MS;
    let handedOver = 0;
    while (handedOver < TURN_LENGTH && clock.monotonicMs() < endsAtMs) {
      const { done, value } = round.next();
      if (done) {
        round = subscribers.entries();
        if (isMore || isResumed) schedule();
        isMore = false;
        isResumed = false;
        return;
      }
      const [name, { turn }] = value;
      const had = work?.time(name, turn) ?? turn();
      handedOver += had.handedOver;
      isMore ||= had.isMore;
    }
    isResumed = true;
    schedule();
  }

  function add(name: string, subscriber: Subscriber): void {
    if (subscribers.has(name)) throw new Error(`two northbounds are named ${name}`);
    subscribers.set(name, subscriber);
    schedule();
  }

  const losing = () => [...subscribers].flatMap(([name, { feed }]) => (feed.isLosing() ? [name] : []));

  return {
    losing,
    offer(batch) {
      if (batch.changes.length === 0 && batch.events.length === 0) return;
      for (const change of batch.changes) {
        const key = changeKey(change);
        for (const { feed } of subscribers.values()) feed.pushChange(key, change);
      }
      for (const event of batch.events) {
        for (const { feed } of subscribers.values()) feed.pushEvent(event);
      }
      schedule();
    },
    attachSink(name, sink, limits) {
      // It shows its slice at once: a longer one would make the turn longer.
      const perTurn = Math.min(limits.perTurn, TURN_LENGTH);
      const feed = createFeed(name, { ...limits, perTurn }, parts);
      add(name, createSinkSubscriber(name, sink, recorded(name, feed, published), log));
      return () => void subscribers.delete(name);
    },
    attachOutlet(name, limits, outbox) {
      const feed = recorded(name, createFeed(name, limits, parts, outbox), published);
      outbox?.onReady(schedule);
      const { outlet, turn } = createOutlet(feed, schedule);
      add(name, { feed, turn, figures: feed.figures });
      return outlet;
    },
    hang() {
      const waitedMs = scheduledAtMs === null ? 0 : clock.monotonicMs() - scheduledAtMs;
      return waitedMs <= TURN_LIMIT_MS ? null : "what waits for the plant is not handed over";
    },
    health() {
      const figures: Record<string, number> = {};
      for (const [name, subscriber] of subscribers) {
        for (const [figure, value] of Object.entries(subscriber.figures()))
          figures[`${name}.${figure}`] = value;
      }
      const names = losing();
      if (names.length === 0) return { state: "up", figures };
      const detail = `more events come than can be handed over, and the oldest are lost: ${names.join(", ")}`;
      return { state: "degraded", detail, figures };
    },
  };
}

function lengthOf({ changes, events }: Slice): number {
  return changes.length + events.length;
}

/** The same feed; each slice is recorded as it is handed over. */
function recorded(name: string, feed: Feed, published: DeliveryTap): Feed {
  return {
    ...feed,
    take() {
      const slice = feed.take();
      if (!isEmpty(slice)) published.record(name, slice);
      return slice;
    },
  };
}

function createSinkSubscriber(name: string, sink: Sink, feed: Feed, log: Log): Subscriber {
  let failures = 0;

  function writeAlone(key: string, part: Batch): void {
    try {
      sink.write(part);
    } catch (error) {
      // One line, so that the log is not flooded.
      if (failures === 0)
        log.error({ northbound: name, key, err: error }, "a northbound cannot show a change or an event");
      failures += 1;
    }
  }

  return {
    feed,
    turn() {
      if (!feed.hasWork()) return NOTHING;
      const slice = feed.take();
      if (isEmpty(slice)) return NOTHING;
      feed.release(slice);
      try {
        sink.write(slice);
      } catch {
        // A sink must not throw. One change or event that it cannot show must not cost it the others.
        for (const change of slice.changes) writeAlone(changeKey(change), { changes: [change], events: [] });
        for (const event of slice.events) writeAlone(event.eventId, { changes: [], events: [event] });
      }
      return { handedOver: lengthOf(slice), isMore: feed.hasWork() };
    },
    figures: () => ({ ...feed.figures(), failures }),
  };
}

/** The end of a queue, from which one link runner reads. */
export interface Outlet {
  /**
   * The connection is up: changes come from now on, beginning with a snapshot. Events come too, unless
   * `areEventsOpen` is false.
   */
  open(areEventsOpen?: boolean): void;
  /** Events come from now on, or wait. `show` gets each event that begins to wait. */
  setEventsOpen(isOpen: boolean, show: ShowEvent | undefined): void;
  /** The connection is closed: events are kept, changes are not. A waiting `next` resolves with null. */
  close(): void;
  /** Waits for the next turn with something to take; null once the outlet is closed. */
  next(): Promise<Slice | null>;
  /** The slice has arrived. Otherwise its events come again after the next `open`. */
  release(slice: Slice): void;
  /** Its changes have arrived; the next slice has no events before `releaseEvents`. */
  releaseChanges(slice: Slice): void;
  /** So many of its events, from the first on, have arrived. The others come again. */
  releaseEvents(slice: Slice, arrived: number): void;
  /** How many events wait. */
  eventsQueued(): number;
  figures(): Readonly<Record<string, number>>;
}

/**
 * @param schedule asks for a turn of the fan-out
 * @returns the outlet, and the function that the fan-out calls in each turn
 */
function createOutlet(
  feed: Feed,
  schedule: () => void,
): { readonly outlet: Outlet; readonly turn: () => Turn } {
  let isOpen = false;
  let waiting: ((slice: Slice | null) => void) | null = null;

  function settle(slice: Slice | null): void {
    const resolve = waiting;
    waiting = null;
    resolve?.(slice);
  }

  const outlet: Outlet = {
    open(areEventsOpen = true) {
      feed.setOpen(true);
      if (areEventsOpen) feed.setEventsOpen(true);
      isOpen = true;
    },
    setEventsOpen(areOpen, show) {
      if (!isOpen) return;
      feed.setEventsOpen(areOpen, show);
      schedule();
    },
    close() {
      isOpen = false;
      feed.setOpen(false);
      settle(null);
    },
    next() {
      if (!isOpen) return Promise.resolve(null);
      if (waiting !== null) throw new Error("one reader at a time may wait for an outlet");
      return new Promise((resolve) => {
        waiting = resolve;
        // In a later turn: a link that writes without waiting must not block the event loop.
        if (feed.hasWork()) schedule();
      });
    },
    release: feed.release,
    releaseChanges: feed.releaseChanges,
    releaseEvents(slice, arrived) {
      feed.releaseEvents(slice, arrived);
      schedule();
    },
    eventsQueued: feed.eventsQueued,
    figures: feed.figures,
  };

  return {
    outlet,
    turn() {
      if (waiting === null || !feed.hasWork()) return NOTHING;
      const slice = feed.take();
      if (!isEmpty(slice)) settle(slice);
      // The reader asks for its next turn itself, after it has written this slice.
      return { handedOver: lengthOf(slice), isMore: false };
    },
  };
}
