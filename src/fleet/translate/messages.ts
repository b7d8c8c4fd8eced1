import { coded } from "../../domain/coded.ts";
import { isIdentifierNumber } from "../../domain/foreign-text.ts";
import {
  type Feedback,
  feedbackStatusNames,
  type Goal,
  isTerminal,
  type Mission,
  type MissionQueue,
  type MissionType,
  missionStateNames,
  missionTypeNames,
  type TaskChain,
} from "../../domain/mission.ts";
import type { Stamp } from "../../domain/observed.ts";
import {
  type Battery,
  batteryStateNames,
  type Conveyor,
  chargeMethodNames,
  healthStateNames,
  installationStateNames,
  operationStateNames,
  type Presence,
  payloadStateNames,
} from "../../domain/robot.ts";
import { shortestFloat } from "../../platform/float.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";
import { OnlineAMRInfoSchema, QueryTaskChainInfoSchema } from "../../wire/fleet/http/v1/task_pb.js";
import type { BatteryState } from "../../wire/fleet/v1/battery_pb.js";
import type { ConveyorState } from "../../wire/fleet/v1/cart/cart_pb.js";
import type { EventMetadata, Goal as WireGoal } from "../../wire/fleet/v1/common_pb.js";
import type {
  MissionState,
  MissionState_MissionFeedback,
  MissionStates,
  MissionType as WireMissionType,
} from "../../wire/fleet/v1/mission_pb.js";
import { createSnakeRecord, MalformedAnswer } from "./snake-record.ts";

const readRobot = createSnakeRecord(OnlineAMRInfoSchema);

/**
 * One robot of GetOnlineRobots from its JSON, with its name. `id` is the robot's number
 * in decimal, `name` its robot_id (docs/internals/service.md, How deployed services behave).
 * Throws MalformedAnswer.
 */
export function presenceFromJson(json: Json): { readonly name: string; readonly presence: Presence } {
  const info = readRobot(json);
  const amrId = /^\d{1,10}$/.test(String(info.id)) ? Number(info.id) : Number.NaN;
  if (!isIdentifierNumber(amrId, 1)) throw new MalformedAnswer("id should be a robot's number in decimal");
  return {
    name: String(info.name),
    presence: {
      amrId,
      mapId: Number(info.map_id),
      position: String(info.pos),
      stateId: String(info.state_id),
      // Which number means none is not documented.
      taskChainId: Math.max(0, Number(info.task_chain_id)),
      info,
    },
  };
}

/** A battery as it was sent. */
export function batteryFromProto(state: BatteryState): Battery {
  return {
    chargePercent: state.chargePercent,
    state: coded(batteryStateNames, state.state),
    chargeMethod: coded(chargeMethodNames, state.chargeMethod),
  };
}

/** One conveyor of a cart as it was sent. */
export function conveyorFromProto(state: ConveyorState): Conveyor {
  return {
    index: state.index,
    operation: coded(operationStateNames, state.operationState),
    payload: coded(payloadStateNames, state.payloadState),
    health: coded(healthStateNames, state.healthState),
    installation: coded(installationStateNames, state.installationState),
  };
}

const readChain = createSnakeRecord(QueryTaskChainInfoSchema);

/**
 * One chain of QueryTaskChain from its JSON. A chain is finished when it has a
 * finish time: the statuses are not documented, but it is documented that the time is
 * empty while unfinished. Throws MalformedAnswer.
 */
export function taskChainFromJson(json: Json): TaskChain {
  const info = readChain(json);
  const state = info.task_chain_state as Json;
  if (!isJsonObject(state)) throw new MalformedAnswer("taskChainState is missing");
  return {
    chainId: Number(state.id),
    amrId: Number(state.amr_id),
    taskSeq: String(state.task_seq),
    status: String(state.status),
    finished: state.finish_time !== "",
    info,
  };
}

/** Not negative, and small enough to be compared exactly: no robot has sent 2^53 messages. */
function isCountable(sequence: bigint): boolean {
  return sequence >= 0n && sequence <= BigInt(Number.MAX_SAFE_INTEGER);
}

/**
 * The times and the number of a message. `receivedAtMs` is the gateway's wall clock; the robot's time is cut
 * to whole milliseconds, as it is published.
 */
export function stampFromProto(metadata: EventMetadata | undefined, receivedAtMs: number): Stamp {
  if (metadata === undefined) return { sourceTimeMs: null, sequence: null, receivedAtMs };
  const at = metadata.timestamp;
  return {
    sourceTimeMs: at === undefined ? null : Number(at.seconds) * 1000 + Math.floor(at.nanos / 1e6),
    sequence: isCountable(metadata.sequenceNumber) ? Number(metadata.sequenceNumber) : null,
    receivedAtMs,
  };
}

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
    const missions = states.missions.map(missionFromProto);
    const { currentMissionIndex: index } = states;
    return { missions, currentMissionIndex: index === -1 ? lastEndedIndex(missions) : index };
  }
  if (legacy === undefined) return emptyQueue;
  return { missions: [missionFromProto(legacy)], currentMissionIndex: 0 };
}

/**
 * The mission that ended last; -1: none has ended, or one is under way. A service may name no active mission
 * (-1) as soon as the last one has ended, and nobody would see how it ended (docs/internals/service.md,
 * TRN-29).
 */
function lastEndedIndex(missions: readonly Mission[]): number {
  const index = missions.findLastIndex(({ state }) => state !== "STATE_DEFAULT");
  const last = missions[index];
  return last !== undefined && isTerminal(last.state) ? index : -1;
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
