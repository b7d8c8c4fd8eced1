import { createFanOut } from "../../src/delivery/fan-out.ts";
import { createLinkRunner } from "../../src/delivery/link-runner.ts";
import { type Log, silentLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createFakeState, roomy, turn } from "./fake-state.ts";
import { createInMemoryLink } from "./in-memory-link.ts";

const backoff = { baseMs: 1_000, capMs: 8_000 };

/** A link runner with a link in memory. */
export function setUp({
  perTurn = 1_000,
  log = silentLog,
  ...hanging
}: {
  perTurn?: number;
  log?: Log;
  hangAfterMs?: number;
} = {}) {
  const clock = createManualClock();
  const state = createFakeState();
  const fanOut = createFanOut({ state, clock, log: silentLog });
  const outlet = fanOut.attachOutlet("mqtt", { ...roomy, perTurn });
  const link = createInMemoryLink();
  const random = () => 0.999;
  const runner = createLinkRunner(link, {
    outlet,
    backoff,
    writeTimeoutMs: 4_000,
    drainMs: 2_000,
    clock,
    random,
    log,
    ...hanging,
  });
  const stop = new AbortController();
  let isReady = false;
  let isOver = false;
  const run = () => {
    const ended = runner.run(stop.signal, () => {
      isReady = true;
    });
    return ended.then(() => {
      isOver = true;
    });
  };
  return {
    clock,
    state,
    fanOut,
    outlet,
    link,
    runner,
    stop,
    run,
    isReady: () => isReady,
    isOver: () => isOver,
  };
}

/** Lets everything that is under way go on, without time passing. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 12; turns += 1) await turn();
}
