import { expect, test } from "vitest";
import { createFleetState } from "../../../src/bridge/state/fleet-state.ts";
import { createTaskChains } from "../../../src/fleet/polling/task-chains.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const WAITS = { status: "WAIT", finishTime: "" };
const GOES = { status: "RUN", finishTime: "" };
const DONE = { status: "END", finishTime: "2026-01-01 00:00:00" };

/** Chain 7 as the service tells it; null: left out. */
function start(told: ReadonlyArray<Record<string, string> | null>) {
  const clock = createManualClock();
  const state = createFleetState({
    times: { streamSilenceMs: 30_000, resyncMs: 60_000, holdMs: 300_000 },
    maxRobots: 10,
    maxTaskChains: 10,
    sessionId: "s1",
    clock,
    log: silentLog,
    commandOf: () => null,
  });
  let changes = 0;
  let turn = 0;
  const chains = createTaskChains({
    async read() {
      const chain = told[Math.min(turn, told.length - 1)];
      turn += 1;
      const taskChains = chain === null ? [] : [{ taskChainState: { id: "7", amrId: "1", ...chain } }];
      return JSON.stringify({ taskChains });
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

test("one that is left out three times in a row is let go of", async () => {
  const { chains } = start([null, null, WAITS, null, null, null]);
  for (const followed of [1, 1, 1, 1, 1, 0]) {
    await chains.turn();
    expect(chains.followed).toBe(followed);
  }
});
