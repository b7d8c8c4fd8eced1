import type { Socket } from "node:net";
import type { Clock } from "../../../platform/clock.ts";
import { type ForwardedPacket, type InnerClient, nextId } from "./inner-client.ts";

/** An event that was published. */
export interface Delivery {
  sent: number;
  acknowledged: number;
  /** Clients that got it, and have neither acknowledged it nor gone. */
  readonly open: Set<Subscriber>;
  isWritten: boolean;
  readonly arrived: Promise<boolean>;
  readonly settle: (hasArrived: boolean) => void;
}

/** A client of the broker that is not the gateway. */
export interface Subscriber {
  readonly client: InnerClient;
  readonly socket: Socket;
  /** By packet identifier. */
  readonly open: Map<number, Delivery>;
  /** Since when it has acknowledged nothing of what is open. */
  sinceMs: number;
  /** Others are not held up by it. */
  isSilent: boolean;
}

/** Who was sent an event, and who has acknowledged it. */
export interface EventDeliveries {
  /** An event that the gateway publishes. */
  begin(): Delivery;
  /** All that subscribe to its topic were written to. */
  written(delivery: Delivery): void;
  /** aedes is about to send it: it gets its packet identifier here. */
  send(packet: ForwardedPacket, delivery: Delivery, subscriber: Subscriber): void;
  /** Whether the subscriber had not acknowledged this message before. */
  acknowledged(subscriber: Subscriber, messageId: number): boolean;
  gone(subscriber: Subscriber): void;
}

/** @param areOthersThere whether clients are there that subscribe to events */
export function createEventDeliveries(areOthersThere: () => boolean, clock: Clock): EventDeliveries {
  function judge({ isWritten, open, acknowledged, sent, settle }: Delivery): void {
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
      judge(delivery);
    },
    send(packet, delivery, subscriber) {
      const { client, open } = subscriber;
      delivery.sent += 1;
      // It is about to go, and did not get it.
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
      judge(delivery);
      return true;
    },
    gone(subscriber) {
      for (const delivery of subscriber.open.values()) {
        delivery.open.delete(subscriber);
        judge(delivery);
      }
    },
  };
}
