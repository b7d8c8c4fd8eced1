import type { Client } from "aedes";
import type { Subscriber } from "./event-deliveries.ts";

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
