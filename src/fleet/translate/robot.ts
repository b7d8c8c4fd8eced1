import { type Battery, batteryStateNames, chargeMethodNames } from "../../domain/battery.ts";
import { coded } from "../../domain/coded.ts";
import {
  type Conveyor,
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../../domain/conveyor.ts";
import { isIdentifierNumber } from "../../domain/identifier.ts";
import type { Stamp } from "../../domain/observed.ts";
import type { Presence } from "../../domain/robot.ts";
import type { TaskChain } from "../../domain/task-chain.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";
import { OnlineAMRInfoSchema, QueryTaskChainInfoSchema } from "../../wire/fleet/http/v1/task_pb.js";
import type { BatteryState } from "../../wire/fleet/v1/battery_pb.js";
import type { ConveyorState } from "../../wire/fleet/v1/cart/cart_pb.js";
import type { EventMetadata } from "../../wire/fleet/v1/common_pb.js";
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
      taskChainId: Number(info.task_chain_id),
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
