import { expect, test } from "vitest";
import type { FleetUpdate } from "../../../src/domain/update.ts";
import { createTaskChains } from "../../../src/fleet/polling/task-chains.ts";
import { createLog, silentLog } from "../../../src/platform/log.ts";
import { newFleetState } from "../../support/fleet-state.ts";
import { anyIdentifiers } from "../../support/identifiers.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const WAITS = { status: "WAIT", finishTime: "" };
const GOES = { status: "RUN", finishTime: "" };
const DONE = { status: "END", finishTime: "2026-01-01 00:00:00" };

/** Chain 7 as the service tells it; null: left out. */
function start(told: ReadonlyArray<Record<string, string> | null>) {
  const clock = createManualClock();
  const state = newFleetState(clock);
  let changes = 0;
  let turn = 0;
  const chains = createTaskChains({
    identifiers: anyIdentifiers(),
    async read() {
      const chain = told[Math.min(turn, told.length - 1)];
      turn += 1;
      const taskChains = chain === null ? [] : [{ taskChainState: { id: "7", amrId: "1", ...chain } }];
      return Buffer.from(JSON.stringify({ taskChains }));
    },
    clock,
    log: silentLog,
    sink(event) {
      changes += state.apply(event).changes.length;
    },
    current: () => [],
  });
  chains.follow(7);
  const quality = () => state.snapshot().find(({ kind }) => kind === "task_chain");
  return { clock, state, chains, changes: () => changes, quality };
}

test("a chain that is told in the same words is confirmed and not told again", async () => {
  const { clock, state, chains, changes, quality } = start([WAITS, WAITS, WAITS, GOES, GOES, DONE]);
  const made: number[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    await chains.turn();
    made.push(changes());
    clock.advance(25_000);
    expect(state.tick().changes).toEqual([]);
    expect(quality()).toMatchObject({ observed: { quality: "good" } });
  }
  expect(made).toEqual([1, 1, 1, 2, 2, 3]);
  expect(chains.followed).toBe(0);
});

test("one that turned stale meanwhile is good again with the same words", async () => {
  const { clock, state, chains, changes, quality } = start([WAITS]);
  await chains.turn();
  clock.advance(61_000);
  state.tick();
  expect(quality()).toMatchObject({ observed: { quality: "stale" } });
  await chains.turn();
  expect(quality()).toMatchObject({ observed: { quality: "good" } });
  expect(changes()).toBe(2);
});

test("one that is left out three times in a row is removed", async () => {
  const { chains } = start([null, null, WAITS, null, null, null]);
  for (const followed of [1, 1, 1, 1, 1, 0]) {
    await chains.turn();
    expect(chains.followed).toBe(followed);
  }
});

/** Follows chains 7, 8 and 9, of which the service tells these records, one list a turn. */
function startThree(turns: ReadonlyArray<readonly unknown[]>) {
  const clock = createManualClock();
  const told: FleetUpdate[] = [];
  const lines: Array<{ readonly msg: string; readonly chainId: number | null }> = [];
  let turn = 0;
  const chains = createTaskChains({
    identifiers: anyIdentifiers(),
    read: async () => Buffer.from(JSON.stringify({ taskChains: turns[turn++] })),
    clock,
    log: createLog("debug", { write: (line) => void lines.push(JSON.parse(line)) }),
    sink: (event) => void told.push(event),
    current: () => [],
  });
  for (const chainId of [7, 8, 9]) chains.follow(chainId);
  return {
    chains,
    lines,
    /** The chains that a turn tells of. */
    async turn() {
      told.length = 0;
      await chains.turn();
      return told.map((event) => (event.kind === "task_chain" ? event.chain.chainId : null));
    },
  };
}

const record = (id: number, more: object = {}) => ({
  taskChainState: { id: String(id), amrId: "1", ...WAITS, ...more },
});
const UNREADABLE = record(7, { status: 5 });

test("a chain whose record cannot be read keeps nobody from reading those behind it, and is followed on", async () => {
  const { chains, lines, turn } = startThree([
    [record(7), record(8), record(9)],
    ...new Array(5).fill([UNREADABLE, record(8), record(9)]),
    [record(7, { status: {} }), record(8), record(9, DONE)],
    [record(7), record(8)],
  ]);
  expect(await turn()).toEqual([7, 8, 9]);
  for (let time = 0; time < 5; time += 1) expect(await turn()).toEqual([8, 9]);
  expect(chains.malformed).toBe(5);
  // Once a wording.
  expect(lines).toMatchObject([{ msg: "a chain of QueryTaskChain cannot be read", chainId: 7 }]);
  expect(await turn()).toEqual([8, 9]);
  expect(lines).toHaveLength(2);
  expect(chains.followed).toBe(2);
  expect(await turn()).toEqual([7, 8]);
  expect(chains.malformed).toBe(6);
});

test("each chain that cannot be read is logged, though they are wrong alike", async () => {
  const { lines, turn } = startThree([[UNREADABLE, record(8, { status: 5 }), record(9)]]);
  expect(await turn()).toEqual([9]);
  expect(lines.map(({ chainId }) => chainId)).toEqual([7, 8]);
});

test.each([
  [null],
  ["nonsense"],
  [{}],
  [{ taskChainState: { id: "x", status: 5 } }],
  [{ taskChainState: { id: 0, status: 5 } }],
])(
  "a record that does not say its number (%j) may be of any chain that seems to be left out: none is removed",
  async (nonsense) => {
    const { chains, lines, turn } = startThree(new Array(4).fill([nonsense, record(8)]));
    for (let time = 0; time < 4; time += 1) expect(await turn()).toEqual([8]);
    expect(chains.followed).toBe(3);
    expect(chains.malformed).toBe(4);
    expect(lines).toHaveLength(1);
  },
);

test("one that is left out beside one that cannot be read is removed all the same", async () => {
  const { chains, turn } = startThree(new Array(3).fill([UNREADABLE, record(8)]));
  for (let time = 0; time < 3; time += 1) await turn();
  expect(chains.followed).toBe(2);
});

test("chains that were not asked for are left out, and so is a second word about one", async () => {
  const identifiers = anyIdentifiers();
  const told: number[] = [];
  const ids = ["7", "8", "-1", "0", "7", "99999999999"];
  const taskChains = ids.map((id) => ({ taskChainState: { id, amrId: "1", ...GOES } }));
  const chains = createTaskChains({
    identifiers,
    read: async () => Buffer.from(JSON.stringify({ taskChains })),
    clock: createManualClock(),
    log: silentLog,
    sink: (event) => void (event.kind === "task_chain" && told.push(event.chain.chainId)),
    current: () => [7],
  });
  await chains.turn();
  expect([told, identifiers.refused, chains.malformed]).toEqual([[7], 4, 1]);
});

test("a service that names ever more chains makes the gateway follow 10,000 of them at most", async () => {
  const identifiers = anyIdentifiers();
  const chains = createTaskChains({
    identifiers,
    read: async () => Buffer.from(JSON.stringify({ taskChains: [] })),
    clock: createManualClock(),
    log: silentLog,
    sink: () => {},
    current: () => Array.from({ length: 10_007 }, (_, index) => index + 1),
  });
  await chains.turn();
  expect([chains.followed, identifiers.refused]).toEqual([10_000, 7]);
});
