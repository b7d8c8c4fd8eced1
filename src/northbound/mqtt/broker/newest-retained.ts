import type { Aedes } from "aedes";
import type { ForwardedPacket } from "./inner-client.ts";

/** Knows which retained messages are still the newest of their topics. */
export interface NewestRetained {
  has(packet: Pick<ForwardedPacket, "topic" | "payload">): boolean;
}

/** The part of aedes' store that its types lack. */
interface Persistence {
  storeRetained(packet: Pick<ForwardedPacket, "topic" | "payload">): Promise<unknown>;
}

/**
 * aedes reads the retained messages for a new subscriber before it sends them. Meanwhile the subscriber gets
 * newer ones, and would end up with the older value.
 */
export function followRetained(aedes: Aedes): NewestRetained {
  const { persistence } = aedes as unknown as { readonly persistence: Persistence };
  /** By topic. All copies of a message share its payload. */
  const newest = new Map<string, string | Buffer>();
  const store = persistence.storeRetained.bind(persistence);
  persistence.storeRetained = (packet) => {
    const { topic, payload } = packet;
    if (payload.length === 0) newest.delete(topic);
    else newest.set(topic, payload);
    return store(packet);
  };
  return { has: ({ topic, payload }) => newest.get(topic) === payload };
}
