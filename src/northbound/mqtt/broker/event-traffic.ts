import type { Writable } from "node:stream";
import type { Aedes, Client } from "aedes";
import type { EventTraffic } from "./event-arrivals.ts";

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
