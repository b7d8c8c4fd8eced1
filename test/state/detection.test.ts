import { describe, expect, it } from "vitest";
import {
  cutForgivenMs,
  detectionLimits,
  LOOKS_A_SILENCE,
  QUALITY_TICK_MS,
} from "../../src/domain/detection.ts";
import type { Quality } from "../../src/domain/observed.ts";
import { every } from "../../src/platform/clock.ts";
import type { FleetState } from "../../src/state/fleet-state.ts";
import { missionEvent, rosterEvent } from "../delivery/fleet-updates.ts";
import { newFleetState } from "../support/fleet-state.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

const times = { streamSilenceMs: 4_000, resyncMs: 9_000, holdMs: 20_000 };
const limits = detectionLimits(
  {
    ...times,
    keepaliveMs: null,
    keepaliveTimeoutMs: 10_000,
    connectMs: 5_000,
    rosterPollMs: 2_000,
    pollTimeoutMs: 4_000,
  },
  "streams",
);
const STEP_MS = 50;
/** Where in the gateway's own rhythm the loss falls. */
const phases = Array.from({ length: 30 }, (_, index) => index * 70);

interface Watched {
  readonly clock: ManualClock;
  readonly state: FleetState;
  /** How long until a batch told this quality of the robot. */
  until(quality: Quality): number;
}

/** A robot that was good for a while, watched as the gateway watches: told by what batches say. */
function watch(phaseMs: number, sign: (state: FleetState) => void): Watched {
  const clock = createManualClock();
  const state = newFleetState(clock, { times });
  let told: Quality = "unknown";
  const alive = new AbortController();
  const note = (batch: ReturnType<FleetState["tick"]>) => {
    for (const change of batch.changes) if (change.kind === "robot") told = change.quality;
  };
  every(clock, QUALITY_TICK_MS, alive.signal, () => note(state.tick()));
  note(state.apply(missionEvent("r1", ["m1:RUNNING"])));
  note(state.apply(rosterEvent(["r1"])));
  clock.advance(phaseMs);
  sign(state);
  return {
    clock,
    state,
    until(quality) {
      let passedMs = 0;
      for (; told !== quality && passedMs < 120_000; passedMs += STEP_MS) clock.advance(STEP_MS);
      return passedMs;
    },
  };
}

/** The longest of all phases. */
function slowest(measure: (phaseMs: number) => number): number {
  return Math.max(...phases.map(measure));
}

/** Not beaten, and not far off: a limit that nothing comes near would be a guess. */
function expectLimit(measuredMs: number, limitMs: number): void {
  expect(measuredMs).toBeLessThanOrEqual(limitMs + STEP_MS);
  expect(measuredMs).toBeGreaterThan(limitMs - 2 * QUALITY_TICK_MS);
}

describe("the worst case that check and the documentation give", () => {
  it("needs nobody to say that a stream is lost: a silence shows by itself", () => {
    // The proof is told up to a share of the silence late. A look at the connections finds it sooner.
    const lateMs = times.streamSilenceMs / LOOKS_A_SILENCE;
    const measured = slowest((phaseMs) => {
      const watched = watch(phaseMs, () => {});
      watched.clock.advance(lateMs);
      watched.state.apply({ kind: "stream", stream: "missions", state: "live", atMs: 0 });
      return lateMs + watched.until("stale");
    });
    expectLimit(measured, times.streamSilenceMs + lateMs + QUALITY_TICK_MS);
    expect(limits.silentMs).toBeLessThanOrEqual(times.streamSilenceMs + lateMs);
  });

  it("holds for a robot that a living stream does not renew", () => {
    const measured = slowest((phaseMs) => {
      const watched = watch(phaseMs, (state) => state.apply(missionEvent("r1", ["m1:RUNNING"])));
      every(watched.clock, 500, new AbortController().signal, () =>
        watched.state.apply({ kind: "stream", stream: "missions", state: "live", atMs: 0 }),
      );
      return watched.until("stale");
    });
    expectLimit(measured, limits.notRenewedMs);
  });

  it("holds from a loss to the end of the last value", () => {
    const measured = slowest((phaseMs) => {
      const watched = watch(phaseMs, (state) =>
        state.apply({ kind: "link", state: "down", atMs: 0, cause: "" }),
      );
      expect(watched.state.robot("r1")?.quality).toBe("offline");
      return watched.until("lost");
    });
    expectLimit(measured, limits.lostAfterMs);
  });

  const tell = (state: FleetState, how: "cut" | "lost" | "live") =>
    state.apply({ kind: "stream", stream: "missions", state: how, atMs: 0 });

  it("holds for a stream that is cut, also if it is open again without a snapshot", () => {
    for (const isOpenAgain of [false, true]) {
      const measured = slowest((phaseMs) => {
        const watched = watch(phaseMs, (state) => {
          tell(state, "cut");
          if (isOpenAgain) tell(state, "live");
        });
        return watched.until("stale");
      });
      expectLimit(measured, limits.streamCutMs);
    }
  });

  it("counts from the first cut since the last snapshot", () => {
    const watched = watch(0, (state) => tell(state, "cut"));
    watched.clock.advance(cutForgivenMs(times.streamSilenceMs) - 100);
    expect(watched.state.robot("r1")?.quality).toBe("good");
    tell(watched.state, "live");
    tell(watched.state, "cut");
    watched.clock.advance(100);
    expect(watched.state.robot("r1")?.quality).toBe("stale");
  });

  it("tells nothing of a cut after which the same snapshot comes in time", () => {
    const watched = watch(0, () => {});
    const batches = [
      tell(watched.state, "cut"),
      watched.state.tick(),
      tell(watched.state, "live"),
      watched.state.apply({
        kind: "confirmed",
        robotId: "r1",
        aspect: "mission",
        stream: "missions",
        atMs: 0,
      }),
    ];
    expect(batches.flatMap(({ changes }) => changes)).toEqual([]);
    watched.clock.advance(limits.streamCutMs);
    expect(watched.state.robot("r1")?.quality).toBe("good");
  });

  it("is told at once if a stream is lost", () => {
    const { state } = watch(0, () => {});
    tell(state, "cut");
    expect(tell(state, "lost").changes).toContainEqual(
      expect.objectContaining({ kind: "robot", quality: "stale" }),
    );
  });
});
