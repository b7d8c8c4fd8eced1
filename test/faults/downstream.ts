import { expect } from "vitest";
import { defaultFleetTimes } from "../../src/fleet/options.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import type { RobotState } from "../../src/simulator/control.ts";
import { createFleetState } from "../../src/state/fleet-state.ts";
import { type FleetHarness, type FleetOverrides, startFleetSession } from "../support/fleet-harness.ts";
import type { ManualClock } from "../support/manual-clock.ts";
import type { RunningSimulator } from "../support/simulator.ts";
import { isSame, shownAsElse, shownAsGood, truthOf } from "./truth.ts";

/** A session and what northbounds would show of what it tells. */
export interface Downstream {
  readonly fleet: FleetHarness;
  /** Waits until what is shown as good is the world's own state. */
  settled(): Promise<void>;
  /** Robots of which everything that is shown is true, complete and good. */
  good(): readonly string[];
  /** What is shown as anything but good, in words. */
  notGood(): readonly string[];
  /** Calls and connections (over the wire at `address`) that its streams and commands need. */
  needs(address: string): { readonly calls: number; readonly connections: number };
  /** Lets a little time pass on its clock, no faster than the service answers. */
  letTimePass(): Promise<void>;
  /** Tasks that still wait on its clock. */
  pending(): number;
}

/** How long a value that is no longer good is held: longer than any case. */
const HOLD_MS = 600_000;
const LONGEST_STEP_MS = 1_000;
/** Steps in which a silence passes: time must not outrun the proofs of life. */
const STEPS_A_SILENCE = 20;
const PATIENCE_MS = 30_000;
const LOOK_MS = 20;
/** Of a connection: fewer than what a session asks at one time. */
const FEW_STREAMS = 10;

/** Starts a session. `isElsewhere`: it cannot come to this service, and so must show nothing of it. */
export async function startDownstream(
  simulator: () => RunningSimulator,
  isElsewhere: boolean,
  overrides: FleetOverrides & { readonly clock: Clock },
): Promise<Downstream> {
  const { endpoints } = simulator();
  const { clock: own } = overrides;
  const times = { ...defaultFleetTimes, ...overrides.times };
  const tracked = countTasks(own);
  const state = createFleetState({
    times: { ...times, holdMs: HOLD_MS },
    maxRobots: 10_000,
    maxTaskChains: 100,
    sessionId: "faults",
    clock: own,
    log: silentLog,
  });
  const fleet = await startFleetSession(endpoints, {
    ...overrides,
    clock: tracked,
    onEvent(event) {
      state.apply(event);
      overrides.onEvent?.(event);
    },
  });
  const choice = overrides.robots ?? { kind: "locations", locations: endpoints.locations.slice(0, 1) };
  const isFor = (robot: RobotState) =>
    !isElsewhere &&
    endpoints.locations.includes(robot.location) &&
    (choice.kind === "ids" ? choice.ids.includes(robot.robotId) : choice.locations.includes(robot.location));
  const truth = () => truthOf(simulator().control.robots(), { isFor, presence: times.rosterPollMs !== null });
  const shown = () => {
    const all = shownAsGood(state);
    if (!isElsewhere) return all;
    const theirs = new Set(
      simulator()
        .control.robots()
        .map(({ robotId }) => robotId),
    );
    return Object.fromEntries(Object.entries(all).filter(([robotId]) => theirs.has(robotId)));
  };
  const isTrue = () => isSame(shown(), truth());

  // A clock that can be told to go on stands still until it is.
  const { advance } = own as Partial<ManualClock>;

  /**
   * One, but for a service that takes so few calls on a connection that the session's own need more. None
   * over HTTPS.
   */
  function forCommands(): number {
    const open = fleet.figure("command_connections");
    return fleet.figure("stream_limit") < FEW_STREAMS ? open : Math.min(open, 1);
  }

  async function letTimePass(): Promise<void> {
    // Such a clock follows the machine's, and goes on with nothing else.
    if (advance === undefined) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      return;
    }
    await simulator().rest("GET", "/", undefined, null);
    await new Promise((resolve) => setImmediate(resolve));
    advance(Math.min(LONGEST_STEP_MS, times.streamSilenceMs / STEPS_A_SILENCE));
  }

  async function passUntilTrue(): Promise<void> {
    const startedAtMs = performance.now();
    while (!isTrue()) {
      if (performance.now() - startedAtMs > PATIENCE_MS) throw new Error("not in time");
      await letTimePass();
    }
  }

  return {
    fleet,
    async settled() {
      try {
        if (advance === undefined) await fleet.until("what is shown as good is true and complete", isTrue);
        else await passUntilTrue();
      } catch (error) {
        expect(shown()).toEqual(truth());
        throw error;
      }
    },
    good() {
      const [now, really] = [shown(), truth()];
      return Object.keys(really).filter((robotId) =>
        isSame({ robot: now[robotId] ?? { conveyors: {} } }, { robot: really[robotId] ?? { conveyors: {} } }),
      );
    },
    notGood: () => shownAsElse(state),
    needs: (address) => ({
      calls: isElsewhere ? 0 : fleet.figure("streams_open") - fleet.figure("streams_suspended"),
      connections:
        (overrides.grpcAddress ?? endpoints.grpc) === address
          ? fleet.figure("connections") + forCommands()
          : 0,
    }),
    letTimePass,
    pending: tracked.pending,
  };
}

/** The same clock, which knows what waits on it by this hand. */
function countTasks(clock: Clock): Clock & { pending(): number } {
  let pending = 0;
  return {
    nowMs: clock.nowMs,
    monotonicMs: clock.monotonicMs,
    after(delayMs, task) {
      pending += 1;
      let isDone = false;
      const settle = () => {
        if (!isDone) pending -= 1;
        isDone = true;
      };
      const cancel = clock.after(delayMs, () => {
        settle();
        task();
      });
      return () => {
        settle();
        cancel();
      };
    },
    pending: () => pending,
  };
}
