import { describe, expect, test } from "vitest";
import { explain } from "./counterexample.ts";
import { type Bound, explore } from "./exhaustive.ts";
import type { MoveName } from "./moves.ts";
import type { ProgramShape } from "./program.ts";
import { runRandomly } from "./random-run.ts";
import { realReducer } from "./reducer.ts";
import { randomSetup, soundParts } from "./setups.ts";

/** The model knows nothing of stations, and of a store that is lost or cannot be read. */
const STEPS = 1_000_000;
const FIRST_SEED = 1;
const TIMEOUT_MS = 120_000;

const first: ProgramShape = {
  ...{ user: 1, userNo: 1, reads: "answer", writes: "request" },
  ...{ isCyclic: false, mostTries: 2, faults: {} },
};
const second: ProgramShape = { ...first, user: 2, userNo: 2 };
/** They use the slot by the five rules. */
const third: ProgramShape = { ...first, reads: "verdict", writes: "whole" };
const fourth: ProgramShape = { ...third, user: 2 };

function move(
  name: MoveName,
  { most, who = 0, how = 0 }: { most?: number; who?: number; how?: number } = {},
) {
  return most === undefined ? { move: { name, who, how } } : { move: { name, who, how }, most };
}

/** A program goes on; it may connect again as often as it lost its connection. */
function goesOn(who: number): Bound[] {
  const names = ["reads Answer at once", "has its request done", "connects"] as const;
  return names.map((name) => move(name, { who }));
}

/** The gateway goes on, and the disk is well. */
const gateway: Bound[] = (["all saves land", "record lands", "ends", "is looked into"] as const).map((name) =>
  move(name),
);
/** What else a gateway does that has two commands, one of them a stop. */
const stops: Bound[] = [
  move("leaves unrecorded"),
  ...(["leaves unrecorded", "record lands", "ends"] as const).map((name) => move(name, { who: 1 })),
];
const once = { most: 1 } as const;
/** What was on its way to the disk may have come there, or not. */
const restart: Bound[] = [0, 257].map((how) => move("restarts", { ...once, how }));
/** `strays`: another user stops what runs, under the open number. */
const FOREIGN_STOP = 22;
/** `reads`: three tags at a time. */
const THREE_TAGS = 2;
/** `connects`: the last three requests are written again. */
const AGAIN = 3;
const MOST_WORLDS = 40_000;

test.each([
  ["the tags", "tags"],
  ["the five rules", "verdict"],
  ["the tags or the five rules, on one slot", "both"],
] as const)(
  "a million random moves of programs by %s break no rule",
  (_by, rules) => {
    const found = runRandomly(STEPS, FIRST_SEED, randomSetup({ ...soundParts, rules }));
    expect(found === null ? null : explain(found)).toBeNull();
  },
  TIMEOUT_MS,
);

/** Each goes through all orders of what it names, from connected idle programs on. */
interface Case {
  readonly name: string;
  readonly programs: readonly ProgramShape[];
  readonly bounds: readonly Bound[];
}
const cases: readonly Case[] = [
  {
    name: "a start, a lost connection that holds what was written, a repetition in a new one",
    programs: [first],
    bounds: [
      ...goesOn(0),
      ...gateway,
      move("wants a start", once),
      move("finds nothing for long", once),
      move("loses its connection", once),
      move("connects", { ...once, how: AGAIN }),
      move("has its request done, and once more", once),
      move("comes late"),
    ],
  },
  {
    name: "two starts, a held write, a crash of the PLC with or without its memory",
    programs: [first],
    bounds: [
      ...goesOn(0),
      ...gateway,
      move("wants a start", { most: 2 }),
      move("comes late"),
      move("crashes (program)", { ...once, how: 0 }),
      move("crashes (program)", { ...once, how: 1 }),
    ],
  },
  {
    name: "a start, a restart of the gateway with or without what was on its way to the disk",
    programs: [first],
    bounds: [...goesOn(0), ...gateway, ...restart, move("wants a start", once)],
  },
  {
    name: "a start, a disk that is late or fails, a restart of the gateway",
    programs: [first],
    bounds: [
      ...goesOn(0),
      ...gateway,
      move("restarts", { ...once, how: 1 }),
      move("wants a start", once),
      move("save takes a second", once),
      move("save fails", { ...once, how: 1 }),
    ],
  },
  {
    name: "two users, a start each",
    programs: [first, second],
    bounds: [
      ...goesOn(0),
      ...goesOn(1),
      ...gateway,
      move("wants a start", { ...once, who: 0 }),
      move("wants a start", { ...once, who: 1 }),
    ],
  },
  {
    name: "a start and a stop of one user, and a held write",
    programs: [{ ...first, mostTries: 1 }],
    bounds: [
      ...goesOn(0),
      ...gateway,
      ...stops,
      move("wants a start", once),
      move("wants a stop", once),
      move("loses its connection", once),
      move("comes late"),
    ],
  },
  {
    name: "a stop, its tags read in two halves, and a stop of another user",
    programs: [{ ...first, reads: "tags", mostTries: 1 }],
    bounds: [
      ...stops,
      move("ends"),
      move("reads", { how: THREE_TAGS }),
      move("gets its answer"),
      move("has its request done"),
      move("wants a stop", once),
      move("strays", { ...once, how: FOREIGN_STOP }),
    ],
  },
];

/** The same by the five rules. A torn read is none of them. */
const fiveRules = cases
  .filter(({ programs }) => programs.every(({ reads }) => reads === "answer"))
  .map(({ programs, ...rest }): Case => {
    const shapes = [third, fourth].map((shape) => ({ ...shape, mostTries: programs[0]?.mostTries ?? 1 }));
    return { ...rest, name: `by the five rules: ${rest.name}`, programs: shapes.slice(0, programs.length) };
  });
/** Nobody can tell them apart by a number. */
const withoutNumbers = cases
  .filter(({ programs }) => programs.length > 1)
  .map(
    ({ programs, ...rest }): Case => ({
      ...rest,
      name: `without numbers of users: ${rest.name}`,
      programs: programs.map((shape) => ({ ...shape, userNo: 0 })),
    }),
  );

describe("every order of a few moves breaks no rule", () => {
  test.each([...cases, ...fiveRules, ...withoutNumbers])(
    "$name",
    ({ programs, bounds }) => {
      const { found, worlds } = explore(
        { reducer: realReducer, serverFaults: {}, programs },
        bounds,
        MOST_WORLDS,
      );
      expect(found === null ? null : explain(found)).toBeNull();
      expect(worlds).toBeGreaterThan(500);
    },
    TIMEOUT_MS,
  );
});
