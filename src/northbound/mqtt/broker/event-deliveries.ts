import type { Socket } from "node:net";
import type { Client } from "aedes";
import type { Clock } from "../../../platform/clock.ts";
import { type ForwardedPacket, type InnerClient, nextId } from "./inner-client.ts";

/** An event that was published. */
export interface Delivery {
  sent: number;
  acknowledged: number;
  /** Clients to which it was sent, which are still connected and have not acknowledged it. */
  readonly open: Set<Subscriber>;
  isWritten: boolean;
  readonly arrived: Promise<boolean>;
  readonly settle: (hasArrived: boolean) => void;
}

/** A client of the broker that is not the gateway. */
export interface Subscriber {
  readonly client: InnerClient;
  readonly socket: Socket;
  /** The deliveries without an acknowledgement, by packet identifier. */
  readonly open: Map<number, Delivery>;
  /** The time of its last acknowledgement, or of the first open delivery after a pause. */
  sinceMs: number;
  /** Deliveries no longer wait for its acknowledgements. */
  isSilent: boolean;
}

/** To which clients each event was sent, and which have acknowledged it. */
export interface EventDeliveries {
  /** Begins the delivery of an event that the gateway publishes. */
  begin(): Delivery;
  /** The event was written to every subscriber of its topic. */
  written(delivery: Delivery): void;
  /** aedes is about to send the event; this assigns its packet identifier. */
  send(packet: ForwardedPacket, delivery: Delivery, subscriber: Subscriber): void;
  /** Returns whether this is the subscriber's first acknowledgement of the message. */
  acknowledged(subscriber: Subscriber, messageId: number): boolean;
  gone(subscriber: Subscriber): void;
}

/** @param areOthersThere whether other clients are connected that subscribe to events */
export function createEventDeliveries(areOthersThere: () => boolean, clock: Clock): EventDeliveries {
  function evaluate({ isWritten, open, acknowledged, sent, settle }: Delivery): void {
    if (!isWritten) return;
    const isWaitedFor = [...open].some(({ isSilent }) => !isSilent);
    if (acknowledged > 0 && !isWaitedFor) settle(true);
    else if (open.size === 0) settle(sent === 0 && areOthersThere());
  }

  return {
    begin() {
      let settle: (hasArrived: boolean) => void = () => {};
      const arrived = new Promise<boolean>((resolve) => {
        settle = resolve;
      });
      return { sent: 0, acknowledged: 0, open: new Set(), isWritten: false, arrived, settle };
    },
    written(delivery) {
      delivery.isWritten = true;
      evaluate(delivery);
    },
    send(packet, delivery, subscriber) {
      const { client, open } = subscriber;
      delivery.sent += 1;
      // The client is disconnecting, and does not get the event.
      if (client.closed) return;
      const id = nextId(client, (one) => open.has(one));
      packet.messageId = id;
      if (open.size === 0) subscriber.sinceMs = clock.monotonicMs();
      open.set(id, delivery);
      delivery.open.add(subscriber);
    },
    acknowledged(subscriber, messageId) {
      const delivery = subscriber.open.get(messageId);
      if (delivery === undefined) return false;
      subscriber.isSilent = false;
      subscriber.open.delete(messageId);
      subscriber.sinceMs = clock.monotonicMs();
      delivery.acknowledged += 1;
      delivery.open.delete(subscriber);
      evaluate(delivery);
      return true;
    },
    gone(subscriber) {
      for (const delivery of subscriber.open.values()) {
        delivery.open.delete(subscriber);
        evaluate(delivery);
      }
    },
  };
}

/** Which clients subscribe to events with QoS 1 or 2. */
export interface EventSubscribers {
  count(): number;
  /** Whether a client has subscribed that was not sent all state yet: it does not count before. */
  areComing(): boolean;
  watch(look: () => void): () => void;
  /** Whether one is connected, as far as aedes knows. */
  areOpen(): boolean;
  of(client: Client): Subscriber | undefined;
  all(): Iterable<Subscriber>;
  add(subscriber: Subscriber): void;
  /** It has subscribed, and was not sent the retained messages yet. */
  subscribed(client: Client): void;
  /** It was sent the retained messages, or has unsubscribed. */
  subscriptionsChanged(client: Client): void;
  remove(subscriber: Subscriber): void;
}

/** @param isEvent whether a filter matches an event */
export function createEventSubscribers(isEvent: (filter: string) => boolean): EventSubscribers {
  const clients = new Map<Client, Subscriber>();
  /** Clients that subscribe to events. */
  const there = new Set<Subscriber>();
  /** Clients that have subscribed to their first events, and were not sent all state yet. */
  const coming = new Set<Subscriber>();
  const looks = new Set<() => void>();

  function notify(): void {
    for (const look of looks) look();
  }

  function setThere(subscriber: Subscriber, is: boolean): void {
    const were = there.size > 0;
    if (is) there.add(subscriber);
    else there.delete(subscriber);
    if (there.size === 0 || !were) notify();
  }

  function hearsEvents({ client: { closed, subscriptions } }: Subscriber): boolean {
    if (closed) return false;
    return Object.entries(subscriptions).some(([filter, { qos }]) => qos > 0 && isEvent(filter));
  }

  return {
    count: () => there.size,
    areComing: () => coming.size > 0,
    watch(look) {
      looks.add(look);
      return () => void looks.delete(look);
    },
    // aedes knows of a client's end before its socket emits it.
    areOpen: () => [...there].some(({ client }) => !client.closed),
    of: (client) => clients.get(client),
    all: () => clients.values(),
    add: (subscriber) => void clients.set(subscriber.client, subscriber),
    subscribed(client) {
      const subscriber = clients.get(client);
      if (subscriber === undefined || there.has(subscriber) || !hearsEvents(subscriber)) return;
      coming.add(subscriber);
      if (there.size === 0) notify();
    },
    subscriptionsChanged(client) {
      const subscriber = clients.get(client);
      if (subscriber === undefined) return;
      coming.delete(subscriber);
      setThere(subscriber, hearsEvents(subscriber));
    },
    remove(subscriber) {
      clients.delete(subscriber.client);
      coming.delete(subscriber);
      setThere(subscriber, false);
    },
  };
}
