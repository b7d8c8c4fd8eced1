import { afterEach, expect, test } from "vitest";
import { createPoll } from "../../../src/fleet/polling/reader.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const stopping = new AbortController();
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
