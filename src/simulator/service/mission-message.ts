import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
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
import type { GoalName } from "../world/map.ts";
import type { Feedback, Mission, MissionKind, MissionStatus } from "../world/mission.ts";
import type { Robot, Stamp } from "../world/robot.ts";

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
