import { expect, it } from "vitest";
import type { Quality } from "../../src/domain/observed.ts";
import { type StationPlace, sightOf } from "../../src/domain/station-sight.ts";
import { followVisits, noCounters, type StationVisits } from "../../src/domain/station-visits.ts";

const here: StationPlace = { kind: "here", hasArrived: true };
const away: StationPlace = { kind: "elsewhere", isBroken: false };
const broken: StationPlace = { kind: "elsewhere", isBroken: true };
const next: StationPlace = { kind: "coming", goalsBefore: 1, isRunning: true, missionId: "m" };

/** What is seen of one robot at a time: where it is, whether it rolls, and how good that is. */
type Step = readonly [atMs: number, place: StationPlace, rolls?: boolean, quality?: Quality];

/** The counters after these steps: cycles, aborted, and the times of the last visit and of all. */
function counted(...steps: readonly Step[]): readonly number[] {
  let visits: StationVisits = { visit: null, counters: noCounters(0) };
  for (const [atMs, place, rolls = false, quality = "good"] of steps) {
    const operation = rolls ? "OPERATION_STATE_ROLLING" : "OPERATION_STATE_STOP";
    const value = {
      index: 1,
      operation,
      payload: "PAYLOAD_STATE_EMPTY",
      health: "HEALTH_STATE_OK",
      installation: "INSTALLATION_STATE_INSTALLED",
    } as const;
    const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs: atMs };
    const conveyors = [{ value, stamp, quality }];
    const robot = {
      robotId: "r1",
      family: "cart" as const,
      quality,
      missions: undefined,
      presence: undefined,
      conveyors,
    };
    const candidate = { robot, place };
    const sight = sightOf(place.kind === "elsewhere" ? [] : [candidate], "good", "r1");
    visits = followVisits(visits, sight, candidate, atMs);
  }
  const { cycles, aborted, waitingLastMs, waitingTotalMs, cycleLastMs, cycleTotalMs } = visits.counters;
  return [cycles, aborted, waitingLastMs, waitingTotalMs, cycleLastMs, cycleTotalMs];
}

it.each<[string, readonly number[], readonly Step[]]>([
  [
    "nobody comes",
    [0, 0, 0, 0, 0, 0],
    [
      [0, away],
      [9, next],
    ],
  ],
  [
    "it is still here",
    [0, 0, 0, 0, 0, 0],
    [
      [0, here],
      [9, here, true],
    ],
  ],
  [
    "a cycle waits until a conveyor turns",
    [1, 0, 30, 30, 100, 100],
    [
      [0, here],
      [30, here, true],
      [60, here],
      [100, away],
    ],
  ],
  [
    "without a conveyor it waits all the time",
    [1, 0, 100, 100, 100, 100],
    [
      [0, here],
      [100, next],
    ],
  ],
  [
    "two cycles add up",
    [2, 0, 5, 15, 50, 150],
    [
      [0, here],
      [10, here, true],
      [100, away],
      [200, here],
      [205, here, true],
      [250, away],
    ],
  ],
  [
    "canceled or failed",
    [0, 1, 0, 0, 0, 0],
    [
      [0, here],
      [100, broken],
    ],
  ],
  [
    "out of sight, and still here",
    [1, 0, 100, 100, 100, 100],
    [
      [0, here],
      [30, here, true, "stale"],
      [60, here],
      [100, away],
    ],
  ],
  [
    "its end was not seen",
    [0, 1, 0, 0, 0, 0],
    [
      [0, here],
      [30, here, false, "offline"],
      [100, away],
    ],
  ],
  [
    "lost to sight",
    [0, 1, 0, 0, 0, 0],
    [
      [0, here],
      [30, here, false, "lost"],
      [60, away, false, "lost"],
    ],
  ],
])("%s", (_, counters, steps) => {
  expect(counted(...steps)).toEqual(counters);
});
