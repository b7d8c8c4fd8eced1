import { describe, expect, it } from "vitest";
import type { Mission, MissionQueue } from "../../src/domain/mission.ts";
import type { Observed, Quality } from "../../src/domain/observed.ts";
import type { Conveyor, Presence } from "../../src/domain/robot.ts";
import {
  isValidSight,
  placeAt,
  type StationCandidate,
  type StationPlace,
  type StationRobot,
  sightOf,
} from "../../src/domain/station-sight.ts";
import type { RobotSight } from "../../src/domain/stops.ts";

const DOCK = ["Dock 1", "P7"];
const here: StationPlace = { kind: "here", hasArrived: false };
const arrived: StationPlace = { kind: "here", hasArrived: true };
const elsewhere: StationPlace = { kind: "elsewhere", isBroken: false };
const broken: StationPlace = { kind: "elsewhere", isBroken: true };
const coming = (goalsBefore: number, isRunning = true, missionId = "m"): StationPlace => ({
  kind: "coming",
  goalsBefore,
  isRunning,
  missionId,
});

const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs: 1 };
const seen = <T>(value: T, quality: Quality = "good"): Observed<T> => ({ value, stamp, quality });
const at = (position: string, taskChainId = 0): Observed<Presence> =>
  seen({ amrId: 1, mapId: 1, position, stateId: "", taskChainId, info: {} });
const cart = (status: string): Mission["feedback"] => ({ family: "cart", status: status as never });
const [ARRIVED, NAVIGATING, DOCKING] = ["STATUS_ARRIVED", "STATUS_NAVIGATING", "STATUS_DOCKING"].map(cart);

function mission(goals: string, more: Partial<Mission> = {}): Mission {
  const list = goals.split(",").map((destinationId) => ({ kind: "destination", destinationId }) as const);
  const type = { family: "cart", type: "CART_TYPE_TRAVERSE" } as const;
  return {
    missionId: "m",
    state: "STATE_RUNNING",
    goals: list,
    currentGoalIndex: 0,
    feedback: NAVIGATING ?? null,
    type,
    owner: "api",
    ...more,
  };
}
const queue = (currentMissionIndex: number, ...missions: readonly Mission[]): Observed<MissionQueue> =>
  seen({ missions, currentMissionIndex });
const done = (goals: string, more: Partial<Mission> = {}) =>
  mission(goals, { state: "STATE_SUCCEEDED", feedback: ARRIVED ?? null, ...more });
const patrol = { type: { family: "cart", type: "CART_TYPE_TRAVERSE_PATROL" } } as const;
const auto = { type: { family: "cart", type: "CART_TYPE_NAVIGATE_AUTO" } } as const;
const waiting = { state: "STATE_DEFAULT", missionId: "w" } as const;

describe("where a robot is, for a station", () => {
  it.each<[string, Pick<RobotSight, "missions" | "presence">, StationPlace]>([
    ["nothing was seen", { missions: undefined, presence: undefined }, elsewhere],
    ["seen at its point", { missions: undefined, presence: at("P7") }, here],
    ["seen at another", { missions: undefined, presence: at("P8") }, elsewhere],
    ["on its way", { missions: queue(0, mission("Dock 1")), presence: at("P8") }, coming(0)],
    [
      "docking is not there yet",
      { missions: queue(0, mission("Dock 1", { feedback: DOCKING ?? null })), presence: undefined },
      coming(0),
    ],
    [
      "paused on its way",
      { missions: queue(0, mission("Dock 1", { state: "STATE_PAUSED" })), presence: undefined },
      coming(0, false),
    ],
    [
      "arrived",
      { missions: queue(0, mission("Dock 1", { feedback: ARRIVED ?? null })), presence: undefined },
      arrived,
    ],
    [
      "arrived elsewhere, the station after two",
      { missions: queue(0, mission("A,B,Dock 1", { feedback: ARRIVED ?? null })), presence: undefined },
      coming(2),
    ],
    [
      "leaving, though its point is still the station's",
      { missions: queue(0, mission("A")), presence: at("P7") },
      elsewhere,
    ],
    [
      "its goal is done",
      { missions: queue(0, mission("Dock 1,A", { currentGoalIndex: 1 })), presence: undefined },
      elsewhere,
    ],
    [
      "a patrol comes again",
      { missions: queue(0, mission("Dock 1,A,B", { currentGoalIndex: 1, ...patrol })), presence: undefined },
      coming(2),
    ],
    [
      "automatic: another is chosen",
      { missions: queue(0, mission("A,Dock 1", auto)), presence: undefined },
      elsewhere,
    ],
    [
      "automatic: it is chosen",
      { missions: queue(0, mission("A,Dock 1", { ...auto, currentGoalIndex: 1 })), presence: undefined },
      coming(0),
    ],
    [
      "in the queue behind two goals",
      { missions: queue(0, mission("A,B"), mission("Dock 1", waiting)), presence: undefined },
      coming(2, false, "w"),
    ],
    ["its mission has ended there", { missions: queue(-1, done("Dock 1")), presence: at("P8") }, arrived],
    [
      "a base robot's, which cannot say that it arrived",
      { missions: queue(-1, done("Dock 1", { feedback: null })), presence: undefined },
      here,
    ],
    [
      "finished before it was there",
      { missions: queue(-1, done("Dock 1", { feedback: NAVIGATING ?? null })), presence: undefined },
      elsewhere,
    ],
    [
      "its last mission ended elsewhere",
      { missions: queue(-1, done("Dock 1"), done("A")), presence: undefined },
      elsewhere,
    ],
    [
      "canceled",
      { missions: queue(-1, done("Dock 1", { state: "STATE_CANCELED" })), presence: undefined },
      broken,
    ],
    [
      "failed, but its point is the station's",
      { missions: queue(-1, done("A", { state: "STATE_FAILED" })), presence: at("P7") },
      here,
    ],
    [
      "on a task chain since, elsewhere",
      { missions: queue(-1, done("Dock 1")), presence: at("P8", 5) },
      elsewhere,
    ],
    ["on a task chain, at its point", { missions: queue(-1, done("A")), presence: at("P7", 5) }, here],
    [
      "a goal by pose",
      {
        missions: queue(0, {
          ...mission("A"),
          goals: [{ kind: "pose", pose: { xMeters: 0, yMeters: 0, headingRadians: 0 } }],
        }),
        presence: undefined,
      },
      elsewhere,
    ],
  ])("%s", (_, sight, place) => {
    expect(placeAt(DOCK, { ...sight, conveyors: [] })).toEqual(place);
  });
});

const belt = (
  index: number,
  payload: Conveyor["payload"],
  operation: Conveyor["operation"],
  quality: Quality = "good",
): Observed<Conveyor> =>
  seen(
    { index, payload, operation, health: "HEALTH_STATE_OK", installation: "INSTALLATION_STATE_INSTALLED" },
    quality,
  );
const robot = (robotId: string, more: Partial<StationRobot> = {}): StationRobot => ({
  robotId,
  family: "base",
  quality: "good",
  missions: undefined,
  presence: undefined,
  conveyors: [],
  ...more,
});
const candidate = (
  robotId: string,
  place: StationPlace,
  more: Partial<StationRobot> = {},
): StationCandidate => ({
  robot: robot(robotId, more),
  place,
});
const nobody = {
  quality: "good",
  here: null,
  count: 0,
  conveyors: [],
  conveyorQuality: "good",
  next: null,
  nextQuality: "good",
};

describe("what a station shows", () => {
  it("nobody, where the fleet is seen; and nothing as if it were known where it is not", () => {
    expect(sightOf([], "good", null)).toEqual(nobody);
    for (const quality of ["stale", "offline", "lost", "unknown"] as const) {
      const sight = sightOf([], quality, null);
      expect(sight).toEqual({ ...nobody, quality, conveyorQuality: quality, nextQuality: quality });
      expect(isValidSight(sight)).toBe(false);
    }
  });

  it("the robot that is here, with its conveyors", () => {
    const conveyors = [
      belt(1, "PAYLOAD_STATE_LOADED", "OPERATION_STATE_STOP"),
      belt(2, "PAYLOAD_STATE_EMPTY", "OPERATION_STATE_ROLLING"),
    ];
    const sight = sightOf([candidate("r1", arrived, { conveyors })], "good", null);
    expect(sight).toMatchObject({ quality: "good", here: { robotId: "r1", hasArrived: true }, count: 1 });
    expect(sight.conveyors).toEqual([
      { index: 1, isLoaded: true, isRolling: false },
      { index: 2, isLoaded: false, isRolling: true },
    ]);
    expect(isValidSight(sight)).toBe(true);
  });

  it.each<Quality>(["stale", "offline", "lost", "unknown"])(
    "no robot, when the one here is %s",
    (quality) => {
      const conveyors = [belt(1, "PAYLOAD_STATE_LOADED", "OPERATION_STATE_ROLLING", quality)];
      const sight = sightOf([candidate("r1", arrived, { quality, conveyors })], "good", "r1");
      expect(sight).toMatchObject({ quality, here: null, count: 0, conveyors: [], conveyorQuality: quality });
      expect(isValidSight(sight)).toBe(false);
    },
  );

  it("no load and no turning of a conveyor that is not good, and so no Valid", () => {
    const conveyors = [
      belt(1, "PAYLOAD_STATE_LOADED", "OPERATION_STATE_ROLLING"),
      belt(2, "PAYLOAD_STATE_LOADED", "OPERATION_STATE_ROLLING", "stale"),
    ];
    const sight = sightOf([candidate("r1", arrived, { conveyors })], "good", null);
    expect(sight.here).toEqual({ robotId: "r1", hasArrived: true });
    expect(sight.conveyors[1]).toEqual({ index: 2, isLoaded: false, isRolling: false });
    expect([sight.conveyorQuality, isValidSight(sight)]).toEqual(["stale", false]);
  });

  it("no Valid while nothing was heard of the conveyors of a cart; other robots have none", () => {
    const sight = sightOf([candidate("r1", arrived, { family: "cart" })], "good", null);
    expect(sight).toMatchObject({ quality: "good", conveyors: [], conveyorQuality: "unknown" });
    expect(isValidSight(sight)).toBe(false);
    expect(isValidSight(sightOf([candidate("r1", arrived)], "good", null))).toBe(true);
    const left = {
      ...belt(1, "PAYLOAD_STATE_LOADED", "OPERATION_STATE_STOP", "lost"),
      isGone: true,
    } as const;
    const none = sightOf([candidate("r1", arrived, { family: "cart", conveyors: [left] })], "good", null);
    expect(none).toMatchObject({ conveyors: [], conveyorQuality: "good" });
  });

  it("not that nobody is here while a robot that was on its way is out of sight", () => {
    const sight = sightOf([candidate("r1", coming(0), { quality: "offline" })], "good", null);
    expect(sight).toMatchObject({ quality: "offline", here: null, next: null, nextQuality: "offline" });
  });

  it("each value's quality counts, not only the robot's", () => {
    const missions = seen<MissionQueue>({ missions: [], currentMissionIndex: -1 }, "stale");
    expect(sightOf([candidate("r1", arrived, { missions })], "good", null)).toMatchObject({
      quality: "stale",
    });
  });

  it("of two the one that was shown, until it has left", () => {
    const both = [candidate("r2", here), candidate("r1", here)];
    const shown = (before: string | null) => sightOf(both, "good", before).here?.robotId;
    expect([shown(null), shown("r2"), shown("r3")]).toEqual(["r1", "r2", "r1"]);
    expect(sightOf(both, "good", null).count).toBe(2);
  });

  it("as next the one with the fewest goals before it, of those that are good", () => {
    const some = [
      candidate("r1", coming(0), { quality: "stale" }),
      candidate("r2", coming(3)),
      candidate("r4", coming(1)),
      candidate("r3", coming(1)),
      candidate("r5", here),
    ];
    expect(sightOf(some, "good", null)).toMatchObject({
      next: { robotId: "r3", goalsBefore: 1 },
      nextQuality: "good",
      here: { robotId: "r5" },
    });
  });
});
