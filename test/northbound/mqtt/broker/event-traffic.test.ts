import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import type { Aedes } from "aedes";
import { expect, test } from "vitest";
import { type EventTraffic, reportTraffic } from "../../../../src/northbound/mqtt/broker/event-arrivals.ts";

test("a subscription to state costs no look at the other subscriptions of its client", async () => {
  const looks: string[] = [];
  const persistence = {
    createRetainedStreamCombi: () => new PassThrough().end(),
    outgoingClearMessageId: async () => {},
  };
  const aedes = Object.assign(new EventEmitter(), { persistence });
  const traffic: Partial<EventTraffic> = {
    isOfEvents: (filter) => filter === "events",
    subscribed: () => void looks.push("subscribed"),
    subscriptionsChanged: () => void looks.push("changed"),
  };
  reportTraffic(aedes as unknown as Aedes, traffic as EventTraffic);
  const subscribe = async (...topics: readonly string[]) => {
    aedes.emit(
      "subscribe",
      topics.map((topic) => ({ topic, qos: 1 })),
      {},
    );
    const retained = persistence.createRetainedStreamCombi();
    const sink = new PassThrough().resume();
    await new Promise<void>((resolve) => retained.pipe(sink).once("finish", () => resolve()));
  };

  await subscribe("state");
  aedes.emit("unsubscribe", ["state"], {});
  expect(looks).toEqual([]);
  await subscribe("state", "events");
  aedes.emit("unsubscribe", ["events"], {});
  expect(looks).toEqual(["subscribed", "changed", "changed"]);
});
