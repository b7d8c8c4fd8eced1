import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { Aedes, Client } from "aedes";
import { type Clock, every } from "../../../platform/clock.ts";
import {
  createEventDeliveries,
  createEventSubscribers,
  type Delivery,
  type EventDeliveries,
  type EventSubscribers,
  type Subscriber,
} from "./event-deliveries.ts";
import {
  acknowledges,
  type ForwardedPacket,
  type InnerClient,
  preferQos,
  type QosDelivery,
} from "./inner-client.ts";
import { filtersMeet } from "./rights.ts";

/** Tracks which clients have the events that the gateway publishes at its own broker. */
export interface EventArrivals {
  /** How many connected clients subscribe to events with QoS 1 or 2. */
  subscribers(): number;
  /** Whether a client has subscribed that was not sent all state yet: it does not count before. */
  areComing(): boolean;
  /**
   * `look` is called when the first such client comes or has all state, or when the last has gone, until the
   * returned function is called.
   */
  watch(look: () => void): () => void;
  /**
   * Whether an event has arrived: each client that got it with QoS 1 has acknowledged it, or has gone, and at
   * least one has acknowledged it. An event that no client subscribes to has arrived if clients are there for
   * others.
   *
   * @param messageId the packet identifier with which the gateway has published it
   */
  arrived(messageId: number): Promise<boolean>;
}

/** Receives what happens at aedes. */
export interface EventTraffic {
  /** The gateway has connected: it no longer asks for earlier events. */
  gatewayConnected(): void;
  /** The gateway publishes this. */
  published(packet: PublishedPacket): void;
  /** All clients that subscribe to this payload's topic were written to. */
  written(payload: object): void;
  /** A client other than the gateway has connected. */
  connected(client: Client, socket: Socket): void;
  /**
   * aedes is about to send a message to the client: an event gets its packet identifier here.
   *
   * @returns whether it may be sent: an event that was published with QoS 0 comes again, in order, to clients
   * that acknowledge
   */
  forward(client: Client, packet: ForwardedPacket): boolean;
  acknowledged(client: Client, messageId: number | undefined): void;
  /** Whether a filter matches events. */
  isOfEvents(filter: string): boolean;
  /** It has subscribed, and was not sent the retained messages yet. */
  subscribed(client: Client): void;
  /** It was sent the retained messages, or has unsubscribed. */
  subscriptionsChanged(client: Client): void;
  /** The topics of events have changed. */
  topicsMoved(): void;
  /** Watches for clients that acknowledge nothing, until the signal is aborted. */
  watchClients(signal: AbortSignal, disconnect: (socket: Socket, reason: string) => void): void;
}

interface PublishedPacket {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly qos: number;
  readonly retain: boolean;
  readonly messageId?: number | undefined;
}

/** A client that acknowledges no event for this long is disconnected. */
const SILENCE_LIMIT_MS = 10_000;
const CHECK_PERIOD_MS = 1_000;
const MOST_SILENT = 500;

/**
 * aedes acknowledges a message before it delivers it, and stores nothing for clients that did not get it. So
 * the packet identifiers of events are given here, and their acknowledgements are read here
 * (docs/internals/decisions.md, At the embedded broker an event arrives at its subscribers).
 *
 * @param filters returns the present filters for every event
 */
export function createEventArrivals(
  filters: () => readonly string[],
  clock: Clock,
): EventArrivals & EventTraffic {
  const isEvent = (filter: string) => filters().some((one) => filtersMeet(one, filter));
  const subscribers = createEventSubscribers(isEvent);
  const deliveries = createEventDeliveries(subscribers.areOpen, clock);
  const published = createPublishedEvents(deliveries, isEvent);
  return {
    subscribers: subscribers.count,
    areComing: subscribers.areComing,
    watch: subscribers.watch,
    isOfEvents: isEvent,
    subscribed: subscribers.subscribed,
    subscriptionsChanged: subscribers.subscriptionsChanged,
    topicsMoved() {
      for (const { client } of [...subscribers.all()]) subscribers.subscriptionsChanged(client);
    },
    arrived: published.arrived,
    gatewayConnected: published.forget,
    published: published.add,
    written(payload) {
      const delivery = published.of(payload);
      if (delivery !== undefined) deliveries.written(delivery);
    },
    ...followClients(subscribers, deliveries, published, clock),
  };
}

/** The events that the gateway has published. */
interface PublishedEvents {
  add(packet: PublishedPacket): void;
  /** By payload: all copies of a packet share it. */
  of(payload: string | object): Delivery | undefined;
  /** Whether it was published with QoS 0. */
  isShown(payload: object): boolean;
  arrived(messageId: number): Promise<boolean>;
  forget(): void;
}

function createPublishedEvents(
  deliveries: EventDeliveries,
  isEvent: (topic: string) => boolean,
): PublishedEvents {
  const byPayload = new WeakMap<object, Delivery>();
  const shown = new WeakSet<object>();
  /** By the gateway's packet identifier. */
  const asked = new Map<number, Delivery>();
  return {
    add({ payload, messageId, qos, retain, topic }) {
      if (retain || typeof payload === "string" || !isEvent(topic)) return;
      if (qos === 0) shown.add(payload);
      if (qos !== 1 || messageId === undefined) return;
      const delivery = deliveries.begin();
      byPayload.set(payload, delivery);
      asked.set(messageId, delivery);
    },
    of: (payload) => (typeof payload === "string" ? undefined : byPayload.get(payload)),
    isShown: (payload) => shown.has(payload),
    arrived(messageId) {
      const delivery = asked.get(messageId);
      asked.delete(messageId);
      return delivery?.arrived ?? Promise.resolve(false);
    },
    forget: () => asked.clear(),
  };
}

/** Follows what clients are sent and acknowledge. */
function followClients(
  subscribers: EventSubscribers,
  deliveries: EventDeliveries,
  published: PublishedEvents,
  clock: Clock,
): Pick<EventTraffic, "connected" | "forward" | "acknowledged" | "watchClients"> {
  /** Identifiers of clients that were disconnected because they acknowledged nothing. */
  const silent = new Set<string>();
  const withQos: QosDelivery = { packet: null };

  function gone(subscriber: Subscriber): void {
    subscribers.remove(subscriber);
    deliveries.gone(subscriber);
  }

  return {
    connected(client, socket) {
      const inner = client as InnerClient;
      const isSilent = silent.has(client.id);
      const subscriber: Subscriber = { client: inner, socket, open: new Map(), sinceMs: 0, isSilent };
      subscribers.add(subscriber);
      preferQos(inner, withQos, ({ payload }) => published.of(payload) !== undefined);
      socket.once("close", () => gone(subscriber));
    },
    forward(client, packet) {
      const subscriber = subscribers.of(client);
      const { payload, topic } = packet;
      if (subscriber === undefined || typeof payload === "string") return true;
      if (published.isShown(payload)) return !acknowledges(subscriber.client, topic);
      const delivery = published.of(payload);
      if (delivery !== undefined && packet === withQos.packet && acknowledges(subscriber.client, topic))
        deliveries.send(packet, delivery, subscriber);
      return true;
    },
    acknowledged(client, messageId) {
      const subscriber = subscribers.of(client);
      if (subscriber === undefined || messageId === undefined) return;
      if (deliveries.acknowledged(subscriber, messageId)) silent.delete(client.id);
    },
    watchClients(signal, disconnect) {
      every(clock, CHECK_PERIOD_MS, signal, () => {
        const nowMs = clock.monotonicMs();
        for (const { client, socket, open, sinceMs } of subscribers.all()) {
          if (open.size === 0 || nowMs - sinceMs < SILENCE_LIMIT_MS) continue;
          if (silent.size < MOST_SILENT) silent.add(client.id);
          disconnect(socket, `it has acknowledged no event for ${SILENCE_LIMIT_MS} ms`);
        }
      });
    },
  };
}

/** The part of aedes' store that its types lack. */
interface Persistence {
  /** Called when a client has acknowledged a message. */
  outgoingClearMessageId(client: Client, packet: { readonly messageId?: number }): Promise<unknown>;
  /** The retained messages of new subscriptions, which aedes pipes to the client. */
  createRetainedStreamCombi(filters: readonly string[]): RetainedStream;
}

interface RetainedStream {
  pipe(to: Writable): Writable;
}

/** Reports what happens to events at aedes 1.2. */
export function reportTraffic(aedes: Aedes, traffic: EventTraffic): void {
  const { persistence } = aedes as unknown as { readonly persistence: Persistence };
  aedes.on("publish", ({ payload }) => {
    if (typeof payload !== "string") traffic.written(payload);
  });
  // A program may subscribe to thousands of topics, one by one. Only filters of events are checked.
  aedes.on("unsubscribe", (filters, client) => {
    if (filters.some(traffic.isOfEvents)) traffic.subscriptionsChanged(client);
  });

  // State comes first: a subscription counts once its retained messages were sent. aedes asks for them in the
  // same turn of the event loop in which it reports the subscription.
  let subscribing: Client | null = null;
  aedes.on("subscribe", (subscriptions, client) => {
    subscribing = subscriptions.some(({ topic }) => traffic.isOfEvents(topic)) ? client : null;
    if (subscribing !== null) traffic.subscribed(client);
  });
  const retained = persistence.createRetainedStreamCombi.bind(persistence);
  persistence.createRetainedStreamCombi = (filters) => {
    const client = subscribing;
    const stream = retained(filters);
    const pipe = stream.pipe.bind(stream);
    stream.pipe = (to) => {
      if (client !== null) to.once("finish", () => traffic.subscriptionsChanged(client));
      return pipe(to);
    };
    return stream;
  };

  // The event `ack` of aedes does not say which message was acknowledged, because it stores none.
  const clear = persistence.outgoingClearMessageId.bind(persistence);
  persistence.outgoingClearMessageId = (client, packet) => {
    traffic.acknowledged(client, packet.messageId);
    return clear(client, packet);
  };
}
