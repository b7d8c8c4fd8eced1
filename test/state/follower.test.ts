import fc from "fast-check";
import { expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import { changeKey, type StateChange } from "../../src/domain/change.ts";
import type { FleetUpdate } from "../../src/domain/update.ts";
import {
  batteryEvent,
  chainEvent,
  conveyor,
  conveyorsEvent,
  missionEvent,
  rosterEvent,
} from "../delivery/fleet-updates.ts";
import { newFleetState } from "../support/fleet-state.ts";
import { createManualClock } from "../support/manual-clock.ts";

const robotId = fc.constantFrom("r1", "r2", "r3");
const stream = fc.constantFrom("missions", "others");
const state = fc.constantFrom("DEFAULT", "RUNNING", "FAILED", "SUCCEEDED");
const missionId = fc.constantFrom("m1", "m2", "m3");

const event: fc.Arbitrary<FleetUpdate> = fc.oneof(
  fc.tuple(robotId, fc.array(fc.tuple(missionId, state), { maxLength: 3 }), stream).map(([id, list, by]) =>
    missionEvent(
      id,
      list.map(([mission, to]) => `${mission}:${to}`),
      by,
    ),
  ),
  fc.tuple(robotId, fc.nat(100), stream).map(([id, percent, by]) => batteryEvent(id, percent, by)),
  fc.tuple(robotId, fc.uniqueArray(fc.nat(2))).map(([id, indexes]) =>
    conveyorsEvent(
      id,
      indexes.map((index) => conveyor(index)),
    ),
  ),
  fc.tuple(fc.nat(3), fc.boolean()).map(([id, finished]) => chainEvent(id, finished)),
  fc.uniqueArray(robotId).map((ids) => rosterEvent(ids)),
  fc
    .record({ robotId, aspect: fc.constantFrom("mission", "battery", "conveyors"), stream })
    .map((one) => ({ kind: "confirmed" as const, atMs: 0, ...one })),
  fc
    .record({ robotId, family: fc.constantFrom("cart", "unknown") })
    .map((one) => ({ kind: "robot" as const, ...one })),
  fc
    .record({ stream, state: fc.constantFrom("live", "cut", "lost") })
    .map((one) => ({ kind: "stream" as const, atMs: 0, ...one })),
  fc.constantFrom("up", "down").map((to) => ({ kind: "link" as const, state: to, atMs: 0, cause: "" })),
);

it("tells a follower enough to know what a snapshot would show, whatever happens", () => {
  const steps = fc.array(fc.oneof({ weight: 4, arbitrary: event }, fc.integer({ min: 1, max: 400 })), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, (incidents) => {
      const clock = createManualClock();
      const fleet = newFleetState(clock, {
        times: { streamSilenceMs: 300, resyncMs: 600, holdMs: 500 },
        maxRobots: 3,
      });
      const followed = new Map<string, StateChange>();
      const follow = (batch: Batch) => {
        for (const change of batch.changes) followed.set(changeKey(change), change);
      };
      for (const step of incidents) {
        if (typeof step === "number") clock.advance(step);
        else follow(fleet.apply(step));
      }
      follow(fleet.tick());
      const shown = new Map(fleet.snapshot().map((change) => [changeKey(change), change]));
      expect(followed).toEqual(shown);
      for (const change of shown.values()) expect(fleet.current(change)).toEqual(change);
    }),
    { numRuns: 300 },
  );
});
