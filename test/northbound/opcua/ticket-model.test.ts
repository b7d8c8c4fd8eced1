import fc from "fast-check";
import { StatusCodes } from "node-opcua";
import { expect, it } from "vitest";
import { createPlant, type Plant } from "./ticket-model.ts";

/** A PLC that follows the rule: one wish after the other, each with one ticket at a time. */
function createPlc(plant: Plant) {
  let session = plant.newSession();
  let ticket: number | null = null;
  /** Somebody has started again: whether the ticket still counts is to be found out. */
  let inDoubt = false;
  let wish = 1;
  const succeeded: number[] = [];
  /** Wishes that ended without being done. */
  const failed: number[] = [];
  /** Wishes that ended, and of which nothing more was shown. */
  const unseen: number[] = [];
  /** Wishes that were begun again after a restart, when the slot did not know their ticket any more. */
  const givenUp = new Set<number>();
  /** Wishes whose end is no longer shown, because a stop of this PLC took the slot over. */
  const replaced: number[] = [];
  const stops = new Set<number>();
  const written: number[] = [];

  function connectAnew(): void {
    session = plant.newSession(session);
    plant.sessionBegan();
    inDoubt = ticket !== null;
  }

  /** A look at the slot, and what follows from it. */
  function look(): void {
    const { tickets, outcome } = plant.shown();
    if (inDoubt) {
      if (plant.nextId() === 0) return;
      inDoubt = false;
      if (tickets.acceptedId !== ticket && tickets.doneId !== ticket) {
        givenUp.add(wish);
        ticket = null;
      }
    }
    if (ticket === null) {
      const next = plant.nextId();
      if (next === 0) return;
      ticket = next;
      written.push(next);
      if (plant.write(session, wish, next, stops.has(wish)) !== StatusCodes.Good) ticket = null;
    } else if (tickets.doneId === ticket) {
      // Whatever else is shown belongs to AcceptedId.
      if (tickets.acceptedId !== ticket) unseen.push(wish);
      else if (outcome?.outcome === "succeeded") succeeded.push(wish);
      else if (outcome?.outcome !== "unknown") failed.push(wish);
      wish += 1;
      ticket = null;
    } else if (tickets.rejectedId === ticket && tickets.acceptedId !== ticket) ticket = null;
  }

  /** What runs is to be stopped: by another command, which is the one that this PLC waits for from now on. */
  function stop(): void {
    const { tickets } = plant.shown();
    const next = plant.nextId();
    if (inDoubt || ticket === null || next === 0) return;
    if (tickets.acceptedId !== ticket || tickets.doneId === ticket) return;
    replaced.push(wish);
    wish += 1;
    stops.add(wish);
    ticket = next;
    written.push(next);
    if (plant.write(session, wish, next, true) !== StatusCodes.Good) ticket = null;
  }

  return {
    look,
    stop,
    replaced,
    stops,
    connectAnew,
    /** A program that writes its tags in every cycle. */
    repeat: () => ticket !== null && void plant.write(session, wish, ticket, stops.has(wish)),
    /** A driver delivers again what was written before, with the parameters that are there now. */
    replay: (place: number) => {
      const number = written[place % Math.max(1, written.length)];
      if (number !== undefined) plant.write(session, null, number);
    },
    succeeded,
    failed,
    unseen,
    givenUp,
  };
}

const step = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ do: "look" } as const) },
  { weight: 4, arbitrary: fc.constant({ do: "sync" } as const) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      how: fc.constantFrom("succeeded", "succeeded", "refused", "unknown", "never journaled"),
      which: fc.constantFrom(0, -1),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: "repeat" } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("replay" as const), place: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.constant({ do: "stop" } as const) },
  { weight: 1, arbitrary: fc.constant({ do: "plc restart" } as const) },
  { weight: 1, arbitrary: fc.constant({ do: "crash" } as const) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 31_000, 70_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("other" as const),
      write: fc.constantFrom("next", "zero", "old"),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Plays a history; `two` lets a second writer act too. */
async function play(steps: readonly Step[], two: boolean) {
  const plant = createPlant();
  const plc = createPlc(plant);
  let other = plant.newSession();
  let othersWish = 1_000;
  for (const each of steps) {
    switch (each.do) {
      case "look":
        plc.look();
        break;
      case "sync":
        plant.sync();
        break;
      case "advance":
        plant.advance(each.how, each.which);
        break;
      case "stop":
        plc.stop();
        break;
      case "repeat":
        plc.repeat();
        break;
      case "replay":
        plc.replay(each.place);
        break;
      case "plc restart":
        plc.connectAnew();
        break;
      case "crash":
        plant.crash();
        plc.connectAnew();
        other = plant.newSession(other);
        break;
      case "wait":
        plant.clock.advance(each.ms);
        plant.tick();
        break;
      case "other":
        if (!two) break;
        othersWish += 1;
        plant.write(
          other,
          othersWish,
          each.write === "next" ? plant.nextId() : each.write === "zero" ? 0 : 1,
        );
        break;
    }
    await new Promise(setImmediate);
  }
  return { plant, plc };
}

const histories = fc.array(step, { minLength: 60, maxLength: 240, size: "max" });

it("one PLC that follows the rule: nothing twice, and no success that was none", async () => {
  let successes = 0;
  let stopped = 0;
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const { plant, plc } = await play(steps, false);
      expect(plant.defects).toEqual([]);
      // A stop does not wait for the disk: what a crash makes the slot forget of it may be asked for once more.
      const once = plant.executed.filter((wish) => !plc.stops.has(wish));
      expect(once.length).toBe(new Set(once).size);
      const failed = plc.failed.filter((wish) => !(plc.stops.has(wish) && plc.givenUp.has(wish)));
      for (const wish of plc.succeeded) expect(plant.executed).toContain(wish);
      for (const wish of failed) expect(plant.executed).not.toContain(wish);
      expect(plc.unseen).toEqual([]);
      successes += plc.succeeded.length;
      stopped += plc.succeeded.filter((wish) => plc.stops.has(wish)).length;
    }),
    { numRuns: 500 },
  );
  // Histories in which nothing ever succeeds would show nothing.
  expect(successes).toBeGreaterThan(100);
  expect(stopped).toBeGreaterThan(20);
}, 120_000);

it("two writers: no success and no failure that was none, and no request id twice", async () => {
  const seen = { succeeded: 0, failed: 0, unseen: 0 };
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const { plant, plc } = await play(steps, true);
      expect(plant.defects).toEqual([]);
      for (const wish of plc.succeeded) expect(plant.executed).toContain(wish);
      // A slot remembers one accepted ticket only: what was begun again may have been done the first time.
      const failed = plc.failed.filter((wish) => !plc.givenUp.has(wish));
      for (const wish of failed) expect(plant.executed).not.toContain(wish);
      seen.succeeded += plc.succeeded.length;
      seen.failed += failed.length;
      seen.unseen += plc.unseen.length;
    }),
    { numRuns: 500 },
  );
  for (const times of Object.values(seen)) expect(times).toBeGreaterThan(20);
}, 120_000);
