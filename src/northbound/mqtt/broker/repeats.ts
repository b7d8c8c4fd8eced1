import type { Client } from "aedes";

/** Recognises messages that a client would get twice, because two of its subscriptions match. */
export interface Repeats {
  /** From now on `isRepeat` decides what this client gets. */
  takeOver(client: Client): void;
  /** Whether this is the last message that the client got. */
  isRepeat(client: Client, packet: NumberedPacket): boolean;
}

interface NumberedPacket {
  /** Null: a retained one of a new subscription. */
  readonly brokerId?: string | null;
  readonly brokerCounter?: number;
}

/**
 * aedes numbers messages when they come, and drops each one with a lower number than the last as a repeat.
 * But it handles QoS 0 faster than QoS 1, so messages overtake each other: an event or a reply was lost when
 * state came right behind it. A message goes to all subscriptions of a client in one go, so only the last one
 * can be a repeat.
 */
export function createRepeats(brokerId: string): Repeats {
  const last = new WeakMap<Client, number>();
  return {
    takeOver(client) {
      const none = Object.defineProperty({}, brokerId, { get: () => 0, set() {} });
      Object.assign(client, { duplicates: none });
    },
    isRepeat(client, { brokerId: from, brokerCounter }) {
      if (!from || brokerCounter === undefined) return false;
      if (last.get(client) === brokerCounter) return true;
      last.set(client, brokerCounter);
      return false;
    },
  };
}
