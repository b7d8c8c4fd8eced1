import type { FleetMap, MapPoint } from "../../northbound/web/api/floor.ts";
import type { FloorPoint, FloorRobot, FloorState } from "../floor/scene.ts";
import { type Fleet, type KnownRobot, seenOf } from "./fleet.ts";
import { wordOf } from "./words.ts";

/** What the floor draws of a fleet. */
export function floorState(
  fleet: Fleet,
  map: FleetMap | null,
  mapId: number | null,
  isLive: boolean,
  chosenId: string | null,
): FloorState {
  const places = new Map((map?.points ?? []).map((point) => [point.code, point]));
  const aheadOf = ({ robot }: KnownRobot) =>
    (robot.place?.unfinished_points ?? []).flatMap((code) => {
      const point = places.get(code);
      return point === undefined ? [] : [{ x: point.x, y: point.y, headingRadians: null }];
    });
  return {
    mapId,
    points: shownPoints(map),
    robots: [...fleet.robots.values()].map((known) => {
      const isChosen = known.robot.robot_id === chosenId;
      return floorRobot(known, fleet, isChosen ? aheadOf(known) : [], isChosen);
    }),
    pollMs: fleet.pollMs,
    isLive,
    chosenId,
  };
}

const noPoints: readonly FloorPoint[] = [];
const pointsOf = new WeakMap<FleetMap, readonly FloorPoint[]>();

/** The same list for the same map: the drawing keeps what it has drawn of it. */
function shownPoints(map: FleetMap | null): readonly FloorPoint[] {
  if (map === null) return noPoints;
  const known = pointsOf.get(map) ?? (map.points ?? []).map(shownPoint);
  pointsOf.set(map, known);
  return known;
}

function shownPoint({ x, y, alias, code }: MapPoint): FloorPoint {
  return { x, y, name: alias === "" ? code : alias };
}

function floorRobot(
  known: KnownRobot,
  fleet: Fleet,
  ahead: FloorRobot["ahead"],
  isChosen: boolean,
): FloorRobot {
  const { robot, track, trail } = known;
  const { quality, place } = robot;
  return {
    robotId: robot.robot_id,
    name: robot.robot_id,
    isPlaceGood: place?.quality === "good" && quality !== "lost" && quality !== "offline",
    qualityWord: quality === "good" ? (place?.quality ?? "unknown") : quality,
    ...wordOf(robot),
    track,
    seen: seenOf(known, fleet.list),
    trail: isChosen ? trail.filter(({ mapId }) => mapId === track?.report.mapId) : [],
    ahead,
  };
}
