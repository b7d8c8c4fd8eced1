import { coded } from "../../domain/coded.ts";
import {
  type Feedback,
  feedbackStatusNames,
  type Goal,
  type Mission,
  type MissionQueue,
  type MissionType,
  missionStateNames,
  missionTypeNames,
} from "../../domain/mission.ts";
import { shortestFloat } from "../../platform/float.ts";
import type { Goal as WireGoal } from "../../wire/fleet/v1/common_pb.js";
import type {
  MissionState,
  MissionState_MissionFeedback,
  MissionStates,
  MissionType as WireMissionType,
} from "../../wire/fleet/v1/mission_pb.js";

/**
 * The limit of missions and goals of a queue together. Even empty ones become megabytes on MQTT: a broker
 * that accepts less would close the connection, and get them again on the next one.
 */
const MOST_PARTS = 5_000;

/** Whether a queue has no more missions and goals than the limit. */
export function isQueueShown(missions: readonly { readonly goals: readonly unknown[] }[]): boolean {
  return missions.reduce((sum, { goals }) => sum + 1 + goals.length, 0) <= MOST_PARTS;
}

const emptyQueue: MissionQueue = { missions: [], currentMissionIndex: -1 };

/**
 * A robot's queue. If `mission_states` is unset, the legacy `mission_state`
 * (the current mission alone) is used instead (docs/internals/service.md, TRN-43).
 */
export function queueFromProto(
  states: MissionStates | undefined,
  legacy: MissionState | undefined,
): MissionQueue {
  if (states !== undefined) {
    return {
      missions: states.missions.map(missionFromProto),
      currentMissionIndex: states.currentMissionIndex,
    };
  }
  if (legacy === undefined) return emptyQueue;
  return { missions: [missionFromProto(legacy)], currentMissionIndex: 0 };
}

function missionFromProto(state: MissionState): Mission {
  return {
    missionId: state.missionId,
    state: coded(missionStateNames, state.state),
    goals: state.goals.map(goalFromProto),
    currentGoalIndex: state.currentGoalIndex,
    feedback: state.missionFeedback === undefined ? null : feedbackFromProto(state.missionFeedback),
    type: state.missionType === undefined ? null : typeFromProto(state.missionType),
    owner: state.owner,
  };
}

const noGoal: Goal = { kind: "none" };

/** A goal of a mission; an unknown member becomes `none`. */
export function goalFromProto(wire: WireGoal): Goal {
  switch (wire.goal.case) {
    case "destinationId":
      return { kind: "destination", destinationId: wire.goal.value };
    case "pose": {
      const pose = wire.goal.value;
      return {
        kind: "pose",
        pose: {
          xMeters: shortestFloat(pose.xMeters),
          yMeters: shortestFloat(pose.yMeters),
          headingRadians: shortestFloat(pose.headingRadians),
        },
      };
    }
    default:
      return noGoal;
  }
}

function feedbackFromProto({ feedback }: MissionState_MissionFeedback): Feedback {
  switch (feedback.case) {
    case "baseFeedback":
      return { family: "base", status: coded(feedbackStatusNames, feedback.value.status) };
    case "serveFeedback":
      return { family: "serve", status: coded(feedbackStatusNames, feedback.value.status) };
    case "cartFeedback":
      return { family: "cart", status: coded(feedbackStatusNames, feedback.value.status) };
    default:
      return { family: "none" };
  }
}

function typeFromProto({ type }: WireMissionType): MissionType {
  switch (type.case) {
    case "baseType":
      return { family: "base", type: coded(missionTypeNames.base, type.value) };
    case "serveType":
      return { family: "serve", type: coded(missionTypeNames.serve, type.value) };
    case "cartType":
      return { family: "cart", type: coded(missionTypeNames.cart, type.value) };
    default:
      return { family: "none" };
  }
}
