import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { Received, Receiver } from "../simulator/webhooks/receiver.ts";
import type { Service } from "./service.ts";

/** What a receiver was sent for one subscription. */
export interface Delivered {
  readonly headers: Received["headers"];
  readonly eventId: string;
  /** The parsed body. */
  readonly body: JsonObject;
}

/** Attempts of each delivery in these tests, and the half of these pauses between them. */
export const delivery = { attempts: 4, backoff: { baseMs: 2_000, capMs: 60_000 }, queueLimit: 30 } as const;

/** Subscriptions of one file's tests, which all go to one receiver. */
export interface Subscriptions {
  /**
   * Creates a subscription for the battery of a robot unless `change` says otherwise, and deletes it after
   * `body`.
   */
  subscribed(
    service: Service,
    robotId: string,
    change: JsonObject,
    body: (id: string) => Promise<void>,
  ): Promise<void>;
  /** The next request that came for a subscription. */
  next(id: string): Promise<Delivered>;
  /** Sets a robot's charge: one event of its battery. */
  charge(service: Service, robotId: string, percent: number): void;
  /** A subscription as ListWebhooks answers it. */
  listed(service: Service, id: string): Promise<JsonObject>;
  /** Waits until a retry has been put off for the n-th time since the start, and lets it come. */
  backoffs(): number;
  awaitBackoff(count: number): Promise<void>;
  /** Half of every pause: a source of chance that counts how often it was asked. */
  random(): number;
}

export function createSubscriptions(receiver: Receiver): Subscriptions {
  let asked = 0;
  const charge: Subscriptions["charge"] = ({ simulator }, robotId, percent) =>
    simulator.control.happen({ kind: "battery", robotId, percent });
  const listed: Subscriptions["listed"] = async (service, id) => {
    const { webhooks = [] } = (await service.done("ListWebhooks", {})) as { webhooks?: JsonObject[] };
    const found = webhooks.find((each) => each.id === id);
    if (found === undefined) throw new Error(`subscription ${id} is not listed`);
    return found;
  };
  return {
    async subscribed(service, robotId, change, body) {
      const request = {
        url: receiver.url,
        eventType: "battery",
        selector: { robotIds: { ids: [robotId] } },
        ...change,
      };
      const { webhook } = await service.done("CreateWebhook", request);
      const { id } = webhook as { id: string };
      receiver.answer(() => 204);
      await body(id);
      await service.done("DeleteWebhook", { id });
    },
    async next(id) {
      for (;;) {
        const { headers, body } = await receiver.next();
        if (headers["x-service-webhook-id"] !== id) continue;
        return { headers, eventId: String(headers["x-service-webhook-event-id"]), body: JSON.parse(body) };
      }
    },
    charge,
    listed,
    backoffs: () => asked,
    async awaitBackoff(count) {
      await expect.poll(() => asked, { interval: 2 }).toBeGreaterThanOrEqual(count);
    },
    random() {
      asked += 1;
      return 0.5;
    },
  };
}
