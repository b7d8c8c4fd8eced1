import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { OnlineAMRInfoSchema, VertexInfoSchema } from "../../wire/fleet/http/v1/task_pb.js";
import { distanceMeters, type Vertex, type VertexKind } from "../world/map.ts";
import { activeMission, isFlat, placeAt, type Robot } from "../world/robot.ts";

/** Numbers of our own: the meaning of `taskState` is not documented. */
const TASK_NONE = 0;
const TASK_EXECUTING = 1;
const TASK_PAUSED = 2;

const BLOCKED_CODE = 1001;
const FLAT_CODE = 1002;

type OnlineInit = MessageInitShape<typeof OnlineAMRInfoSchema>;

/** A robot as GetOnlineRobots answers it. */
export function toOnlineInfo(robot: Robot, nowMs: number): OnlineInit {
  const { chainId, taskId, body } = robot;
  const place = placeAt(robot, nowMs);
  const [state, stateId] = runState(robot);
  return {
    id: String(robot.amrId),
    name: robot.id,
    ip: robot.ip,
    areaId: robot.area,
    mapId: robot.map.id,
    mapName: robot.map.name,
    pos: robot.map.vertexAt(place)?.code ?? "",
    state,
    stateId,
    loadStatus: isLoaded(robot) ? "LOADED" : "EMPTY",
    taskState: taskState(robot),
    taskChainId: chainId,
    taskId,
    batteryPercentile: robot.battery.shownPercent,
    coordinate: { ...place, theta: body.heading },
    amrException: exceptions(robot),
    unFinishRoute: unfinishedRoute(robot, nowMs),
  };
}

function runState(robot: Robot): readonly [string, string] {
  const mission = activeMission(robot);
  const { halts } = robot.body;
  if (isFlat(robot) || halts.has("blocked")) return ["Error", "ROBOT_STATE_ERROR"];
  if (halts.has("chain-paused") || mission?.status === "paused") return ["Paused", "ROBOT_STATE_PAUSED"];
  if (robot.chainId !== 0 || mission !== undefined) return ["Executing", "ROBOT_STATE_EXECUTING"];
  if (robot.battery.state === "charging") return ["Charging", "ROBOT_STATE_CHARGING"];
  return ["Idle", "ROBOT_STATE_IDLE"];
}

function taskState(robot: Robot): number {
  if (robot.chainId === 0) return TASK_NONE;
  return robot.body.halts.has("chain-paused") ? TASK_PAUSED : TASK_EXECUTING;
}

function isLoaded(robot: Robot): boolean {
  return robot.loaded || robot.carriedKg > 0 || robot.conveyors.some((conveyor) => conveyor.loaded);
}

function exceptions(robot: Robot): NonNullable<OnlineInit["amrException"]> {
  const found: Array<readonly [string, number]> = [];
  if (robot.body.halts.has("blocked")) found.push(["the robot's way is blocked", BLOCKED_CODE]);
  if (isFlat(robot)) found.push(["the robot's battery is empty", FLAT_CODE]);
  return {
    exception: found.map(([text]) => create(ValueSchema, { kind: { case: "stringValue", value: text } })),
    exceptionCodes: found.map(([, code]) =>
      create(ValueSchema, { kind: { case: "numberValue", value: code } }),
    ),
    level: found.length === 0 ? 0 : 1,
  };
}

/** The rest of the route, as point codes, and the share of it that is done. */
function unfinishedRoute(robot: Robot, nowMs: number): NonNullable<OnlineInit["unFinishRoute"]> {
  const { action } = robot.body;
  if (action?.kind !== "drive") return { unFinishedVertexes: [], processRate: 0 };
  const points = action.route.slice(action.leg);
  const codes = points.map((point) => robot.map.vertexAt(point)?.code ?? "").filter((code) => code !== "");
  const legMeters = distanceMeters(action.from, points[0] ?? action.target);
  const leftMeters = distanceMeters(placeAt(robot, nowMs), points[0] ?? action.target);
  const ofLeg = legMeters === 0 ? 1 : 1 - leftMeters / legMeters;
  return {
    unFinishedVertexes: codes.map((code) =>
      create(ValueSchema, { kind: { case: "stringValue", value: code } }),
    ),
    processRate: Math.min(Math.max((action.leg + ofLeg) / action.route.length, 0), 1),
  };
}

/** Numbers of our own: the meaning of `type` is not documented. */
const vertexTypes: Readonly<Record<VertexKind, number>> = { waypoint: 0, station: 1, charger: 2, home: 3 };

/**
 * A point of a map for GetMap. A robot docks and leaves on the spot, so those places are the point itself.
 */
export function toVertexInfo(vertex: Vertex, mapId: number): MessageInitShape<typeof VertexInfoSchema> {
  const { id, code, alias, description, x, y, theta, kind, docking } = vertex;
  return {
    id,
    code,
    alias,
    description,
    x,
    y,
    theta,
    type: vertexTypes[kind],
    loading: kind === "station" ? 1 : 0,
    dockingDirection: docking ? 1 : 0,
    dockingX: x,
    dockingY: y,
    dockingTheta: theta,
    outboundX: x,
    outboundY: y,
    outboundTheta: theta,
    allowPark: kind === "waypoint" ? 0 : 1,
    extend: "{}",
    mapId,
  };
}
