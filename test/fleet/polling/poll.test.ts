import { afterEach, beforeEach, expect, test } from "vitest";
import { createPoll, ReadFailed } from "../../../src/fleet/polling/reader.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

let stopping: AbortController;
beforeEach(() => {
  stopping = new AbortController();
});
afterEach(() => stopping.abort());

test("a poll that comes early is repeated soon, then less and less often, and in its period once it is in time", async () => {
  const clock = createManualClock();
  const turnsAtMs: number[] = [];
  const poll = createPoll({
    name: "GetOnlineRobots",
    periodMs: 2_000,
    unimplementedMs: 60_000,
    clock,
    log: silentLog,
    turn: async () => void turnsAtMs.push(clock.monotonicMs()),
    isEarly: () => clock.monotonicMs() < 8_000,
  });
  void poll.run(stopping.signal);
  await clock.settle(12_000);
  expect(turnsAtMs).toEqual([0, 250, 750, 1_750, 3_750, 5_750, 7_750, 9_750, 11_750]);
});

test.each([
  ["as long as the service asks", 7_000, [0, 7_000, 14_000]],
  ["no longer than for an operation that is missing", 86_400_000, [0, 10_000, 20_000]],
  ["no shorter than its period", 100, [0, 2_000, 4_000]],
])("a poll that the service puts off waits %s", async (_, retryAfterMs, atMs) => {
  const clock = createManualClock();
  const turnsAtMs: number[] = [];
  const poll = createPoll({
    name: "GetOnlineRobots",
    periodMs: 2_000,
    unimplementedMs: 10_000,
    clock,
    log: silentLog,
    async turn() {
      turnsAtMs.push(clock.monotonicMs());
      throw new ReadFailed("RESOURCE_EXHAUSTED", "too many", { retryAfterMs });
    },
  });
  void poll.run(stopping.signal);
  await clock.settle(25_000);
  expect(turnsAtMs.slice(0, 3)).toEqual(atMs);
});

test("a poll that a stop cuts off is no failure", async () => {
  const said: string[] = [];
  const stop = new AbortController();
  const cut = new Promise<never>((_, reject) => {
    stop.signal.onabort = () => reject(new Error("This operation was aborted"));
  });
  const poll = createPoll({
    name: "GetOnlineRobots",
    periodMs: 2_000,
    unimplementedMs: 60_000,
    clock: createManualClock(),
    log: { ...silentLog, warn: (_, text) => void said.push(text) },
    turn: () => cut,
  });
  const ended = poll.run(stop.signal);
  stop.abort();
  await ended;
  expect(poll.state()).toEqual({ turns: 1, failures: 0, problem: null });
  expect(said).toEqual([]);
});
