import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { OnlineAMRInfoSchema, VertexInfoSchema } from "../../wire/fleet/http/v1/task_pb.js";
import { FeedbackSchema as CartFeedbackSchema, CartType } from "../../wire/fleet/v1/cart/cart_pb.js";
import {
  type EventMetadata,
  EventMetadataSchema,
  type Goal,
  GoalSchema,
} from "../../wire/fleet/v1/common_pb.js";
import {
  BaseFeedback_Status,
  BaseFeedbackSchema,
  BaseType,
  type MissionEventState,
  MissionEventStateSchema,
  type MissionState,
  type MissionState_MissionFeedback,
  MissionState_MissionFeedbackSchema,
  MissionState_State,
  MissionStateSchema,
  type MissionStates,
  MissionStatesSchema,
  type MissionType,
  MissionTypeSchema,
} from "../../wire/fleet/v1/mission_pb.js";
import {
  Feedback_Status,
  FeedbackSchema as ServeFeedbackSchema,
  ServeType,
} from "../../wire/fleet/v1/serve/serve_pb.js";
import {
  type SubscribeMissionStatusResponse,
  SubscribeMissionStatusResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import type { Vertex } from "../scenario/schema.ts";
import { distanceMeters, type GoalName } from "../world/map.ts";
import type { Feedback, Mission, MissionKind, MissionStatus } from "../world/mission.ts";
import { activeMission, isFlat, placeAt, type Robot, type Stamp } from "../world/robot.ts";

const states: Readonly<Record<MissionStatus, MissionState_State>> = {
  default: MissionState_State.DEFAULT,
  running: MissionState_State.RUNNING,
  paused: MissionState_State.PAUSED,
  canceled: MissionState_State.CANCELED,
  succeeded: MissionState_State.SUCCEEDED,
  failed: MissionState_State.FAILED,
};

/** serve.Feedback and cart.Feedback have the same values. */
const feedbacks: Readonly<Record<Exclude<Feedback, "none">, Feedback_Status>> = {
  navigating: Feedback_Status.NAVIGATING,
  arrived: Feedback_Status.ARRIVED,
  docking: Feedback_Status.DOCKING,
  undocking: Feedback_Status.UNDOCKING,
};

const base = (value: BaseType) => create(MissionTypeSchema, { type: { case: "baseType", value } });
const serve = (value: ServeType) => create(MissionTypeSchema, { type: { case: "serveType", value } });
const cart = (value: CartType) => create(MissionTypeSchema, { type: { case: "cartType", value } });

/** A charge mission has no type (docs/internals/service.md, TRN-39). */
const types: Readonly<Record<MissionKind, MissionType | undefined>> = {
  "base.navigate": base(BaseType.NAVIGATE),
  "base.navigate-auto": base(BaseType.NAVIGATE_AUTO),
  "cart.traverse": cart(CartType.TRAVERSE),
  "cart.traverse-patrol": cart(CartType.TRAVERSE_PATROL),
  "cart.navigate": cart(CartType.NAVIGATE),
  "cart.navigate-auto": cart(CartType.NAVIGATE_AUTO),
  "serve.serving": serve(ServeType.SERVING),
  "serve.serving-patrol": serve(ServeType.SERVING_PATROL),
  "serve.hosting-patrol": serve(ServeType.SERVING_PATROL),
  "serve.bussing": serve(ServeType.BUSSING),
  "serve.bussing-patrol": serve(ServeType.BUSSING_PATROL),
  "serve.navigate": serve(ServeType.NAVIGATE),
  "serve.navigate-auto": serve(ServeType.NAVIGATE_AUTO),
  charge: undefined,
};

/**
 * When a robot recorded an event, by its own clock, and the event's number. `wallMs` turns world time into
 * wall time.
 */
export function toMetadata(robot: Robot, stamp: Stamp, wallMs: (worldMs: number) => number): EventMetadata {
  return create(EventMetadataSchema, {
    timestamp: timestampFromMs(Math.round(wallMs(stamp.atMs)) + robot.clockAheadMs),
    sequenceNumber: BigInt(stamp.sequence),
  });
}

/** A robot's mission message as it is now. */
export function toMissionMessage(robot: Robot, metadata: EventMetadata): SubscribeMissionStatusResponse {
  const missionStates = toStates(robot);
  const message = create(SubscribeMissionStatusResponseSchema, {
    metadata,
    robotId: robot.id,
    missionStates,
  });
  const current = missionStates.missions[robot.currentIndex];
  if (current !== undefined) message.missionState = current;
  return message;
}

/** The webhook event of a mission message: the same content. */
export function toMissionEvent(message: SubscribeMissionStatusResponse): MissionEventState {
  const { metadata, missionStates } = message;
  const { missions = [], currentMissionIndex = -1 } = missionStates ?? {};
  const event = create(MissionEventStateSchema, { missions, currentMissionIndex });
  if (metadata !== undefined) event.metadata = metadata;
  const current = missions[currentMissionIndex];
  if (current === undefined) return event;
  event.currentMission = current;
  const goal = current.goals[current.currentGoalIndex];
  if (goal !== undefined) event.currentGoal = goal;
  return event;
}

function toStates(robot: Robot): MissionStates {
  return create(MissionStatesSchema, {
    missions: robot.missions.map(toState),
    currentMissionIndex: robot.currentIndex,
  });
}

function toState(mission: Mission): MissionState {
  const state = create(MissionStateSchema, {
    missionId: mission.id,
    state: states[mission.status],
    goals: goalsOf(mission),
    currentGoalIndex: mission.goalIndex,
    owner: mission.owner,
  });
  const missionType = types[mission.kind];
  if (missionType !== undefined) state.missionType = missionType;
  const feedback = toFeedback(mission);
  if (feedback !== undefined) state.missionFeedback = feedback;
  return state;
}

/** A base mission has no other feedback than *navigating*; a charge mission has none. */
function toFeedback({ kind, feedback }: Mission): MissionState_MissionFeedback | undefined {
  if (feedback === "none" || kind === "charge") return undefined;
  if (kind.startsWith("base.")) {
    const value = create(BaseFeedbackSchema, { status: BaseFeedback_Status.NAVIGATING });
    return create(MissionState_MissionFeedbackSchema, { feedback: { case: "baseFeedback", value } });
  }
  const status = feedbacks[feedback];
  return create(MissionState_MissionFeedbackSchema, {
    feedback: kind.startsWith("cart.")
      ? { case: "cartFeedback", value: create(CartFeedbackSchema, { status }) }
      : { case: "serveFeedback", value: create(ServeFeedbackSchema, { status }) },
  });
}

/** Goals never change: one list of messages serves every message of the mission. */
const goalLists = new WeakMap<Mission, Goal[]>();

function goalsOf(mission: Mission): Goal[] {
  const known = goalLists.get(mission);
  if (known !== undefined) return known;
  // A charge mission has no goals of its own: the dock is the robot's.
  const goals = mission.kind === "charge" ? [] : mission.targets.map(({ goal }) => toGoal(goal));
  goalLists.set(mission, goals);
  return goals;
}

function toGoal(goal: GoalName): Goal {
  if (goal.kind === "destination") {
    return create(GoalSchema, { goal: { case: "destinationId", value: goal.destinationId } });
  }
  const pose = { xMeters: goal.x, yMeters: goal.y, headingRadians: goal.heading };
  return create(GoalSchema, { goal: { case: "pose", value: pose } });
}

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
const vertexTypes: Readonly<Record<Vertex["kind"], number>> = {
  waypoint: 0,
  station: 1,
  charger: 2,
  home: 3,
};

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
