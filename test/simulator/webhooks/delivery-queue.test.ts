import { expect, test } from "vitest";
import { silentLog } from "../../../src/platform/log.ts";
import { type AttemptOutcome, createDelivery, type Sender } from "../../../src/simulator/webhooks/sender.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const busy: AttemptOutcome = { kind: "retryable", reason: "HTTP status 503" };

/** A delivery whose sender answers by `outcome`, and what it did when. */
function openQueue(outcome: (body: string) => Promise<AttemptOutcome> | AttemptOutcome, queueLimit = 3) {
  const clock = createManualClock();
  const startMs = clock.nowMs();
  const sent: string[] = [];
  const settled: string[] = [];
  const sender: Sender = {
    async send({ body }) {
      sent.push(`${body}@${clock.nowMs() - startMs}`);
      return outcome(body);
    },
    close: () => Promise.resolve(),
  };
  const delivery = createDelivery({
    sender,
    clock,
    random: () => 1,
    log: silentLog,
    options: { attempts: 4, backoff: { baseMs: 1_000, capMs: 3_000 }, queueLimit },
    settled: ({ kind }) => settled.push(kind),
  });
  const offer = (body: string) =>
    delivery.offer(() => ({ url: "https://hooks.example/", headers: {}, body }));
  return { clock, sent, settled, delivery, offer };
}

test("retries wait twice as long each time, up to a cap, and then give up", async () => {
  const { clock, sent, settled, offer } = openQueue(() => busy);
  offer("a");
  await clock.settle(60_000);
  expect(sent).toEqual(["a@0", "a@1000", "a@3000", "a@6000"]);
  expect(settled).toEqual(["retryable"]);
});

test("a permanent failure is not tried again, and the next event follows", async () => {
  const { clock, sent, settled, offer } = openQueue((body) =>
    body === "a" ? { kind: "permanent", reason: "HTTP status 404" } : { kind: "delivered" },
  );
  offer("a");
  offer("b");
  await clock.settle(0);
  expect(sent).toEqual(["a@0", "b@0"]);
  expect(settled).toEqual(["permanent", "delivered"]);
});

test("what waits is bounded: the oldest is lost, and the order stays", async () => {
  let isDown = true;
  const { clock, sent, offer } = openQueue(() => (isDown ? busy : { kind: "delivered" }));
  for (const body of ["a", "b", "c", "d", "e", "f"]) offer(body);
  await clock.settle(0);
  isDown = false;
  await clock.settle(60_000);
  expect(sent).toEqual(["a@0", "a@1000", "d@1000", "e@1000", "f@1000"]);
});

test("an event that comes in the moment in which the last one is done is not forgotten", async () => {
  const { clock, sent, delivery, offer } = openQueue(() => ({ kind: "delivered" }));
  offer("a");
  await delivery.idle();
  offer("b");
  await clock.settle(0);
  expect(sent).toEqual(["a@0", "b@0"]);
});

test("a delivery that is stopped gives up what waits and what is retried", async () => {
  const { clock, sent, settled, delivery, offer } = openQueue(() => busy);
  offer("a");
  offer("b");
  await clock.settle(0);
  delivery.stop();
  await delivery.idle();
  offer("c");
  await clock.settle(60_000);
  expect(sent).toEqual(["a@0"]);
  expect(settled).toEqual([]);
});
