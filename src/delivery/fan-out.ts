import type { Batch, Sink } from "../contracts/link.ts";
import { changeKey } from "../domain/change.ts";
import type { Health } from "../platform/component.ts";
import type { Log } from "../platform/log.ts";
import { noTap, type RecorderTap } from "../platform/recorder/tap.ts";
import type { WorkTimes } from "../platform/work-times.ts";
import { createDeliveryTap, type DeliveryTap } from "./delivery-tap.ts";
import { createFeed, type Feed, type FeedParts, isEmpty, type QueueLimits } from "./feed.ts";
import type { Outbox } from "./outbox/outbox.ts";
import { createOutlet, type Outlet } from "./outlet.ts";

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
  /** Hands over one slice if the northbound can take it. Returns whether it needs another turn. */
  turn(): boolean;
  figures(): Readonly<Record<string, number>>;
}

/** The next turn of the event loop should come at once. */
const TURN_LIMIT_MS = 30_000;

/**
 * Each northbound has a bounded queue of its own, and gets a bounded slice in a turn of the event loop. So a
 * slow broker slows no other northbound, and a burst does not block the event loop.
 */
export function createFanOut(parts: FanOutParts): FanOut {
  const { clock, log, work, tap = noTap } = parts;
  const published = createDeliveryTap(tap);
  const subscribers = new Map<string, Subscriber>();
  /** Since when a turn is scheduled, by the monotonic clock; null: none is. */
  let scheduledAtMs: number | null = null;

  function schedule(): void {
    if (scheduledAtMs !== null) return;
    scheduledAtMs = clock.monotonicMs();
    setImmediate(flush);
  }

  function flush(): void {
    scheduledAtMs = null;
    let again = false;
    for (const [name, { turn }] of subscribers) again = (work?.time(name, turn) ?? turn()) || again;
    if (again) schedule();
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
      const feed = createFeed(name, limits, parts);
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
  return {
    feed,
    turn() {
      if (!feed.hasWork()) return false;
      const slice = feed.take();
      if (isEmpty(slice)) return false;
      feed.release(slice);
      try {
        sink.write(slice);
      } catch (error) {
        // A sink must not throw. One that does must neither stop the others nor flood the log.
        if (failures === 0)
          log.error({ northbound: name, err: error }, "a northbound failed to show a batch");
        failures += 1;
      }
      return feed.hasWork();
    },
    figures: () => ({ ...feed.figures(), failures }),
  };
}
