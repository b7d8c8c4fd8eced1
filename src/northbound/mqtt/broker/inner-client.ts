import type { Aedes, Client } from "aedes";
import { filtersMeet } from "./rights.ts";

// The parts of aedes 1.2 and of its clients that its types do not have.

/**
 * A message that aedes is about to send to a client. A retained one for a new subscription has no broker id.
 */
export interface ForwardedPacket {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly brokerId?: string | null;
  messageId?: number | undefined;
}

/** The function by which aedes sends one message to a client. */
type Deliver = (packet: ForwardedPacket, done: () => void) => void;

/** A client with its inner parts. */
export type InnerClient = Client & {
  readonly subscriptions: Readonly<Record<string, { readonly qos: number }>>;
  _nextId: number;
  deliverQoS: Deliver;
  deliver0: Deliver;
};

const LARGEST_ID = 65_535;

/** The connected client with this identifier. */
export function clientOf(aedes: Aedes, id: string): Client | undefined {
  return (aedes as Aedes & { readonly clients: Readonly<Record<string, Client>> }).clients[id];
}

/** The next free packet identifier for a message to the client. */
export function nextId(client: InnerClient, isTaken: (id: number) => boolean): number {
  for (;;) {
    const id = client._nextId;
    client._nextId = id >= LARGEST_ID ? 1 : id + 1;
    if (id > 0 && !isTaken(id)) return id;
  }
}

/** Whether the client acknowledges messages on this topic. */
export function acknowledges({ subscriptions }: InnerClient, topic: string): boolean {
  // aedes uses the QoS of a subscription to this very topic.
  if (subscriptions[topic]?.qos === 0) return false;
  return Object.entries(subscriptions).some(([filter, { qos }]) => qos > 0 && filtersMeet(filter, topic));
}

/**
 * Calls `proceed` when the client may be sent this retained message of a new subscription.
 *
 * @param isNewest whether the client was not sent a newer message of that topic meanwhile
 */
export function holdRetained(
  client: Client,
  whenReady: (proceed: () => void) => void,
  isNewest: (packet: ForwardedPacket) => boolean,
): void {
  const inner = client as InnerClient;
  const deliver = inner.deliverQoS;
  inner.deliverQoS = (packet, done) => {
    if (packet.brokerId !== null) return deliver(packet, done);
    whenReady(() => {
      if (!client.connected) return;
      if (isNewest(packet)) deliver(packet, done);
      else done();
    });
  };
}

/** The message that aedes delivers with QoS 1 just now. */
export interface QosDelivery {
  packet: ForwardedPacket | null;
}

/**
 * aedes uses the first of several matching subscriptions. This puts the acknowledged one first.
 *
 * @param isEvent whether this message has to be acknowledged
 */
export function preferQos(
  client: InnerClient,
  current: QosDelivery,
  isEvent: (packet: ForwardedPacket) => boolean,
): void {
  const { deliver0, deliverQoS } = client;
  client.deliverQoS = (packet, done) => {
    current.packet = packet;
    deliverQoS(packet, done);
    current.packet = null;
  };
  client.deliver0 = (packet, done) => {
    if (isEvent(packet) && acknowledges(client, packet.topic)) client.deliverQoS(packet, done);
    else deliver0(packet, done);
  };
}
