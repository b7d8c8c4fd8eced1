import type { Socket } from "node:net";
import type { Client } from "aedes";
import { type Clock, every } from "../../../platform/clock.ts";
import { filtersMeet } from "./filters.ts";

/** Who has the events that the gateway publishes at its own broker. */
export interface EventArrivals {
  /** How many clients are there that subscribe to events with QoS 1 or 2. */
  subscribers(): number;
  /** Whether one has subscribed that is not sent all state yet: it does not count before. */
  areComing(): boolean;
  /** `look` is called when the first comes or has come, or the last has gone, until the result is called. */
  watch(look: () => void): () => void;
  /**
   * Whether an event has arrived: each client that it was sent to with QoS 1 has acknowledged it, or has
   * gone, and one has acknowledged it. One that no client subscribes to has, while clients are there for
   * others.
   *
   * @param messageId the packet identifier with which the gateway has published it
   */
  arrived(messageId: number): Promise<boolean>;
}

/** What the broker tells, as aedes tells it. */
export interface EventTraffic {
  /** The gateway has connected: it asks no more for what it has published before. */
  gatewayConnected(): void;
  /** The gateway publishes this. */
  published(packet: PublishedPacket): void;
  /** All clients that subscribe to this payload's topic were written to. */
  written(payload: object): void;
  /** A client has connected that is not the gateway. */
  connected(client: Client, socket: Socket): void;
  /**
   * aedes is about to send the client a message: an event gets its packet identifier here.
   *
   * @returns whether it may: an event that is shown with QoS 0 comes again to those that acknowledge, in
   * order
   */
  forward(client: Client, packet: ForwardedPacket): boolean;
  acknowledged(client: Client, messageId: number | undefined): void;
  /** It has subscribed, and is not sent the retained messages yet. */
  subscribed(client: Client): void;
  /** It was sent the retained messages, or has unsubscribed. */
  subscriptionsChanged(client: Client): void;
  /** Looks for clients that acknowledge nothing, until the signal is aborted. */
  watchClients(signal: AbortSignal, disconnect: (socket: Socket, reason: string) => void): void;
}

interface PublishedPacket {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly qos: number;
  readonly retain: boolean;
  readonly messageId?: number | undefined;
}

interface ForwardedPacket {
  readonly topic: string;
  readonly payload: string | Buffer;
  messageId?: number | undefined;
}

/** The part of aedes 1.2 that its types do not have. */
type InnerClient = Client & {
  readonly subscriptions: Readonly<Record<string, { readonly qos: number }>>;
  _nextId: number;
  deliverQoS: Deliver;
  deliver0: Deliver;
};
type Deliver = (packet: ForwardedPacket, done: () => void) => void;

/** An event that was published. */
interface Delivery {
  sent: number;
  acknowledged: number;
  /** Those that were sent it, and have neither acknowledged it nor gone. */
  readonly open: Set<Subscriber>;
  isWritten: boolean;
  readonly arrived: Promise<boolean>;
  readonly settle: (hasArrived: boolean) => void;
}

interface Subscriber {
  readonly client: InnerClient;
  readonly socket: Socket;
  /** By packet identifier. */
  readonly open: Map<number, Delivery>;
  /** Since when it has acknowledged nothing of what is open. */
  sinceMs: number;
  /** Others are not held up by it. */
  isSilent: boolean;
}

/** A client that acknowledges no event for this long is disconnected. */
const SILENCE_LIMIT_MS = 10_000;
const CHECK_PERIOD_MS = 1_000;
const MOST_SILENT = 500;
const LARGEST_ID = 65_535;

/**
 * aedes says that it has a message before it delivers it, and keeps nothing for those that did not get it. So
 * the packet identifiers of events are given here, and their acknowledgements are read here.
 *
 * @param filters what hears every event
 */
export function createEventArrivals(filters: readonly string[], clock: Clock): EventArrivals & EventTraffic {
  return new Arrivals(filters, clock);
}

class Arrivals implements EventArrivals, EventTraffic {
  readonly #filters: readonly string[];
  readonly #clock: Clock;
  readonly #clients = new Map<Client, Subscriber>();
  /** Those that subscribe to events. */
  readonly #there = new Set<Subscriber>();
  /** Those that have subscribed to their first events, and are not sent all state yet. */
  readonly #coming = new Set<Subscriber>();
  /** By payload: all copies of a packet share it. */
  readonly #deliveries = new WeakMap<object, Delivery>();
  /** Payloads of events that were published with QoS 0. */
  readonly #shown = new WeakSet<object>();
  /** By the gateway's packet identifier. */
  readonly #asked = new Map<number, Delivery>();
  /** Identifiers of clients that were disconnected because they acknowledged nothing. */
  readonly #silent = new Set<string>();
  readonly #looks = new Set<() => void>();
  /** The message that aedes delivers with QoS 1 just now. */
  #withQos: ForwardedPacket | null = null;

  constructor(filters: readonly string[], clock: Clock) {
    this.#filters = filters;
    this.#clock = clock;
  }

  subscribers(): number {
    return this.#there.size;
  }

  areComing(): boolean {
    return this.#coming.size > 0;
  }

  watch(look: () => void): () => void {
    this.#looks.add(look);
    return () => void this.#looks.delete(look);
  }

  arrived(messageId: number): Promise<boolean> {
    const delivery = this.#asked.get(messageId);
    this.#asked.delete(messageId);
    return delivery?.arrived ?? Promise.resolve(false);
  }

  gatewayConnected(): void {
    this.#asked.clear();
  }

  published({ payload, messageId, qos, retain, topic }: PublishedPacket): void {
    if (retain || typeof payload === "string" || !this.#isEvent(topic)) return;
    if (qos === 0) this.#shown.add(payload);
    if (qos !== 1 || messageId === undefined) return;
    const delivery = newDelivery();
    this.#deliveries.set(payload, delivery);
    this.#asked.set(messageId, delivery);
  }

  written(payload: object): void {
    const delivery = this.#deliveries.get(payload);
    if (delivery === undefined) return;
    delivery.isWritten = true;
    this.#judge(delivery);
  }

  connected(client: Client, socket: Socket): void {
    const isSilent = this.#silent.has(client.id);
    const subscriber: Subscriber = {
      client: client as InnerClient,
      socket,
      open: new Map(),
      sinceMs: 0,
      isSilent,
    };
    this.#clients.set(client, subscriber);
    this.#preferQos(subscriber);
    socket.once("close", () => this.#gone(subscriber));
  }

  forward(client: Client, packet: ForwardedPacket): boolean {
    const subscriber = this.#clients.get(client);
    const { payload, topic } = packet;
    if (subscriber === undefined || typeof payload === "string") return true;
    if (this.#shown.has(payload)) return !acknowledges(subscriber, topic);
    const delivery = this.#deliveries.get(payload);
    if (delivery !== undefined && packet === this.#withQos && acknowledges(subscriber, topic))
      this.#send(packet, delivery, subscriber);
    return true;
  }

  #send(packet: ForwardedPacket, delivery: Delivery, subscriber: Subscriber): void {
    delivery.sent += 1;
    // It is about to go, and has not got it.
    if (subscriber.client.closed) return;
    const id = nextId(subscriber);
    packet.messageId = id;
    if (subscriber.open.size === 0) subscriber.sinceMs = this.#clock.monotonicMs();
    subscriber.open.set(id, delivery);
    delivery.open.add(subscriber);
  }

  acknowledged(client: Client, messageId: number | undefined): void {
    const subscriber = this.#clients.get(client);
    const delivery = messageId === undefined ? undefined : subscriber?.open.get(messageId);
    if (subscriber === undefined || messageId === undefined || delivery === undefined) return;
    this.#silent.delete(client.id);
    subscriber.isSilent = false;
    subscriber.open.delete(messageId);
    subscriber.sinceMs = this.#clock.monotonicMs();
    delivery.acknowledged += 1;
    delivery.open.delete(subscriber);
    this.#judge(delivery);
  }

  subscriptionsChanged(client: Client): void {
    const subscriber = this.#clients.get(client);
    if (subscriber === undefined) return;
    this.#coming.delete(subscriber);
    this.#setThere(subscriber, this.#hearsEvents(subscriber));
  }

  subscribed(client: Client): void {
    const subscriber = this.#clients.get(client);
    if (subscriber === undefined || this.#there.has(subscriber) || !this.#hearsEvents(subscriber)) return;
    this.#coming.add(subscriber);
    if (this.#there.size === 0) this.#tell();
  }

  watchClients(signal: AbortSignal, disconnect: (socket: Socket, reason: string) => void): void {
    every(this.#clock, CHECK_PERIOD_MS, signal, () => {
      const nowMs = this.#clock.monotonicMs();
      for (const { client, socket, open, sinceMs } of this.#clients.values()) {
        if (open.size === 0 || nowMs - sinceMs < SILENCE_LIMIT_MS) continue;
        if (this.#silent.size < MOST_SILENT) this.#silent.add(client.id);
        disconnect(socket, `it has acknowledged no event for ${SILENCE_LIMIT_MS} ms`);
      }
    });
  }

  #isEvent(filter: string): boolean {
    return this.#filters.some((one) => filtersMeet(one, filter));
  }

  #deliveryOf({ payload }: ForwardedPacket): Delivery | undefined {
    return typeof payload === "string" ? undefined : this.#deliveries.get(payload);
  }

  #judge({ isWritten, open, acknowledged, sent, settle }: Delivery): void {
    if (!isWritten) return;
    const isWaitedFor = [...open].some(({ isSilent }) => !isSilent);
    if (acknowledged > 0 && !isWaitedFor) settle(true);
    else if (open.size === 0) settle(sent === 0 && this.#areOthersThere());
  }

  /** aedes knows of a client's end before its socket tells. */
  #areOthersThere(): boolean {
    return [...this.#there].some(({ client }) => !client.closed);
  }

  #setThere(subscriber: Subscriber, is: boolean): void {
    const were = this.#there.size > 0;
    if (is) this.#there.add(subscriber);
    else this.#there.delete(subscriber);
    if (this.#there.size === 0 || !were) this.#tell();
  }

  #tell(): void {
    for (const look of this.#looks) look();
  }

  #hearsEvents({ client: { closed, subscriptions } }: Subscriber): boolean {
    if (closed) return false;
    return Object.entries(subscriptions).some(([filter, { qos }]) => qos > 0 && this.#isEvent(filter));
  }

  #gone(subscriber: Subscriber): void {
    this.#clients.delete(subscriber.client);
    this.#coming.delete(subscriber);
    this.#setThere(subscriber, false);
    for (const delivery of subscriber.open.values()) {
      delivery.open.delete(subscriber);
      this.#judge(delivery);
    }
  }

  /** aedes takes the first of several subscriptions that match. The one that is acknowledged comes first. */
  #preferQos(subscriber: Subscriber): void {
    const { client } = subscriber;
    const { deliver0, deliverQoS } = client;
    client.deliverQoS = (packet, done) => {
      this.#withQos = packet;
      deliverQoS(packet, done);
      this.#withQos = null;
    };
    client.deliver0 = (packet, done) => {
      if (this.#deliveryOf(packet) !== undefined && acknowledges(subscriber, packet.topic))
        client.deliverQoS(packet, done);
      else deliver0(packet, done);
    };
  }
}

/** Whether the client acknowledges what is published on this topic. */
function acknowledges({ client }: Subscriber, topic: string): boolean {
  // aedes sends with the QoS of a subscription to this very topic.
  if (client.subscriptions[topic]?.qos === 0) return false;
  return Object.entries(client.subscriptions).some(
    ([filter, { qos }]) => qos > 0 && filtersMeet(filter, topic),
  );
}

function nextId({ client, open }: Subscriber): number {
  for (;;) {
    const id = client._nextId;
    client._nextId = id >= LARGEST_ID ? 1 : id + 1;
    if (id > 0 && !open.has(id)) return id;
  }
}

function newDelivery(): Delivery {
  let settle: (hasArrived: boolean) => void = () => {};
  const arrived = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  return { sent: 0, acknowledged: 0, open: new Set(), isWritten: false, arrived, settle };
}
