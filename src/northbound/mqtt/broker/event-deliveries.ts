import type { Socket } from "node:net";
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
