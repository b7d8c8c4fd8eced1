import type { FleetMap, FloorSettings, MapPoint } from "../../northbound/web/api/floor.ts";
import { type FloorPoint, type FloorRobot, type FloorState, inDrawingOrder } from "../floor/scene.ts";
import { type Fleet, type KnownRobot, seenOf } from "./fleet.ts";
import type { ListedRobot } from "./list.ts";
import { pointName } from "./maps.ts";

type PointTypes = FloorSettings["point_types"];
const noTypes: PointTypes = [];

/**
 * The part of a fleet's state that the floor draws.
 *
 * @param robots those of the fleet, in any order
 */
export function floorState(
  fleet: Fleet,
  robots: readonly ListedRobot[],
  map: FleetMap | null,
  mapId: number | null,
  isLive: boolean,
  chosenId: string | null,
  types: PointTypes = noTypes,
): FloorState {
  const places = new Map((map?.points ?? []).map((point) => [point.code, point]));
  const aheadOf = ({ robot }: KnownRobot) =>
    (robot.place?.unfinished_points ?? []).flatMap((code) => {
      const point = places.get(code);
      return point === undefined ? [] : [{ x: point.x, y: point.y, headingRadians: null }];
    });
  return {
    mapId,
    points: shownPoints(map, types),
    robots: inDrawingOrder(
      robots.map((listed) => {
        const isChosen = listed.known.robot.robot_id === chosenId;
        return floorRobot(listed, fleet, isChosen ? aheadOf(listed.known) : null);
      }),
    ),
    pollMs: fleet.pollMs,
    isLive,
    chosenId,
  };
}

const noPoints: readonly FloorPoint[] = [];
const pointsOf = new WeakMap<
  FleetMap,
  { readonly types: PointTypes; readonly points: readonly FloorPoint[] }
>();

/** The same list for the same map, so that the drawing keeps what it drew for it. */
function shownPoints(map: FleetMap | null, types: PointTypes): readonly FloorPoint[] {
  if (map === null) return noPoints;
  const known = pointsOf.get(map);
  if (known?.types === types) return known.points;
  const points = (map.points ?? []).map((point) => shownPoint(point, types));
  pointsOf.set(map, { types, points });
  return points;
}

/** The service does not define the types of points: only the configuration can. */
function shownPoint({ x, y, alias, code, type }: MapPoint, types: PointTypes): FloorPoint {
  const shape = types.find((each) => each.type === type)?.shape ?? "dot";
  return { x, y, name: pointName({ alias, code }), shape };
}

function floorRobot(
  { known, shown }: ListedRobot,
  fleet: Fleet,
  /** Null: it is not the chosen one. */
  ahead: FloorRobot["ahead"] | null,
): FloorRobot {
  const { robot, track, trail } = known;
  const { quality, place } = robot;
  return {
    robotId: robot.robot_id,
    name: robot.robot_id,
    family: robot.family,
    isPlaceGood: place?.quality === "good" && quality !== "lost" && quality !== "offline",
    quality: quality === "good" ? (place?.quality ?? "unknown") : quality,
    ...shown,
    track,
    seen: seenOf(known, fleet.list),
    trail: ahead !== null && track !== null ? trail.placesOn(track.report.mapId) : [],
    ahead: ahead ?? [],
  };
}
