import fc from "fast-check";
import { expect, it } from "vitest";
import type { QueuedEvent } from "../../../src/delivery/event-queue.ts";
import { alarm, createOutboxScene } from "./outbox-harness.ts";

/** Steps, and more events than they can be. */
const MANY = 60;

/** What may happen to an outbox, its disk and its reader. */
type Step =
  | { readonly kind: "event"; readonly robot: number }
  | { readonly kind: "take"; readonly arrives: "all" | "first" | "none" }
  | { readonly kind: "sync" | "tidy" | "take over" | "kill" | "cut power" | "open" | "close" | "late" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.nat(3).map((robot): Step => ({ kind: "event", robot })) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom("all" as const, "first" as const, "none" as const)
      .map((arrives): Step => ({ kind: "take", arrives })),
  },
  { weight: 4, arbitrary: fc.constant<Step>({ kind: "sync" }) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom("tidy", "take over", "kill", "cut power", "open", "close", "late")
      .map((kind): Step => ({ kind })),
  },
);

/** Runs the steps, and then lets everything arrive. */
async function play(steps: readonly Step[], maxEvents: number) {
  const scene = createOutboxScene({ maxEvents });
  await scene.start();
  /** What must arrive. */
  const durable = new Set<number>();
  /** What a power cut may take. */
  let logged: number[] = [];
  let queued: number[] = [];
  const received: Array<{ readonly robot: string; readonly number: number }> = [];
  const drops = new Map<string, number>();
  /** Drops of this run that the store knows. A power cut may take others: their events were on no disk. */
  let storedDrops = 0;
  let forgottenDrops = 0;
  /** What lost connections of this run were given: they may still say that it has arrived. */
  let unanswered: (readonly QueuedEvent[])[] = [];
  let isOpen = false;
  let number = 0;

  function receive(arrives: "all" | "first" | "none"): void {
    const held = scene.box.peek(3);
    for (const { event } of held) {
      if (event.kind === "dropped") drops.set(event.eventId, event.count);
      else received.push({ robot: event.robotId, number: Number(event.eventId) });
    }
    if (arrives === "all") scene.box.release(held);
    else if (arrives === "first") {
      scene.box.release(held.slice(0, 1));
      scene.box.recall();
    } else {
      scene.close();
      isOpen = false;
      unanswered.push(held);
    }
  }

  for (const one of steps) {
    if (one.kind === "event") {
      number += 1;
      queued.push(number);
      scene.box.push(alarm(String(number), `r${one.robot}`));
    } else if (one.kind === "take") {
      if (isOpen) receive(one.arrives);
    } else if (one.kind === "kill" || one.kind === "cut power") {
      if (one.kind === "cut power") forgottenDrops += scene.box.dropped - storedDrops;
      if (one.kind === "kill") await scene.crash();
      else await scene.cutPower();
      storedDrops = 0;
      if (one.kind === "cut power") logged = [];
      queued = [];
      unanswered = [];
      isOpen = false;
    } else if (one.kind === "late") {
      scene.box.release(unanswered.shift() ?? []);
    } else if (one.kind === "open" || one.kind === "close") {
      isOpen = one.kind === "open";
      if (isOpen) scene.open();
      else scene.close();
    } else if (one.kind === "sync") {
      await scene.sync();
      logged.push(...queued);
      queued = [];
    } else {
      if (one.kind === "tidy") await scene.tidy();
      else await scene.takeOver();
      if (one.kind === "take over") storedDrops = scene.box.dropped;
      for (const each of [...logged, ...queued]) durable.add(each);
      logged = [];
      queued = [];
    }
  }
  scene.close();
  await scene.sync();
  await scene.tidy();
  for (const each of [...logged, ...queued]) durable.add(each);
  scene.open();
  while (scene.box.length > 0) receive("all");
  const told = [...drops.values()].reduce((sum, count) => sum + count, 0);
  return { durable, received, dropped: told + forgottenDrops };
}

it("every event on the disk arrives or is told of as dropped, those of a robot in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: MANY }),
      fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(MANY)),
      async (steps, maxEvents) => {
        const { durable, received, dropped } = await play(steps, maxEvents);
        const arrived = new Set(received.map(({ number }) => number));
        const missing = [...durable].filter((number) => !arrived.has(number));
        expect(dropped).toBeGreaterThanOrEqual(missing.length);
        if (maxEvents === MANY) expect(missing).toEqual([]);
        const first = new Map<string, number>();
        const seen = new Set<number>();
        for (const { robot, number } of received) {
          // Again, after a connection or a run that ended: order counts for the first time.
          if (seen.has(number)) continue;
          seen.add(number);
          expect(number).toBeGreaterThan(first.get(robot) ?? 0);
          first.set(robot, number);
        }
      },
    ),
    { numRuns: 200 },
  );
}, 60_000);
