import { create, type DescMessage, fromJson, type JsonValue, type MessageShape } from "@bufbuild/protobuf";
import type { MissionQueue } from "../../domain/mission.ts";
import type { Stamp } from "../../domain/observed.ts";
import type { Battery, RobotId } from "../../domain/robot.ts";
import { messageOf } from "../../platform/error-text.ts";
import { isJsonObject, type Json, type JsonObject } from "../../platform/json.ts";
import { BatteryEventStateSchema } from "../../wire/fleet/v1/battery_pb.js";
import { MissionEventStateSchema, MissionStatesSchema } from "../../wire/fleet/v1/mission_pb.js";
import { batteryFromProto, isQueueShown, queueFromProto, stampFromProto } from "./messages.ts";
import { MalformedAnswer } from "./snake-record.ts";

/** The content of one webhook delivery. */
export type WebhookEvent = { readonly robotId: RobotId; readonly stamp: Stamp } & (
  | { readonly aspect: "mission"; readonly queue: MissionQueue }
  | { readonly aspect: "battery"; readonly battery: Battery }
);

/**
 * Reads the default body of a delivery (docs/internals/service.md, WHK-27). It is decoded into the streams'
 * messages first, so that there is one translation. Unknown fields are left out. An unknown enum name becomes
 * that enum's UNKNOWN, because a delivery has no number to pass on. Throws MalformedAnswer.
 */
export function webhookEventFromJson(text: string, receivedAtMs: number): WebhookEvent {
  const { robotId, state } = readEnvelope(text);
  if (Object.hasOwn(state, "battery_state")) {
    const { metadata, batteryState } = read(BatteryEventStateSchema, state);
    if (batteryState === undefined) throw new MalformedAnswer("battery_state should be an object");
    const stamp = stampFromProto(metadata, receivedAtMs);
    return { aspect: "battery", robotId, stamp, battery: batteryFromProto(batteryState) };
  }
  if (!Object.hasOwn(state, "missions")) throw new MalformedAnswer("state is of no event that is known");
  // Before it is read: a queue that is left out must not cost a turn of its own.
  if (!isQueueShown(countable(state.missions)))
    throw new MalformedAnswer("missions are too many to be shown");
  const { metadata, missions, currentMissionIndex } = read(MissionEventStateSchema, state);
  const states = create(MissionStatesSchema, { missions, currentMissionIndex });
  const stamp = stampFromProto(metadata, receivedAtMs);
  return { aspect: "mission", robotId, stamp, queue: queueFromProto(states, undefined) };
}

/** The missions and goals of a state, if it has lists of them: the reader refuses anything else. */
function countable(missions: Json | undefined): readonly { readonly goals: readonly Json[] }[] {
  if (!Array.isArray(missions)) return [];
  return missions.map((mission: Json) => {
    const goals = isJsonObject(mission) ? mission.goals : null;
    return { goals: Array.isArray(goals) ? goals : [] };
  });
}

function readEnvelope(text: string): { readonly robotId: RobotId; readonly state: JsonObject } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new MalformedAnswer("the body should be JSON", { cause });
  }
  if (!isJsonObject(json)) throw new MalformedAnswer("the body should be an object");
  const { robot_id: robotId, state } = json;
  if (typeof robotId !== "string" || robotId === "") throw new MalformedAnswer("robot_id should be a text");
  if (!isJsonObject(state)) throw new MalformedAnswer("state should be an object");
  return { robotId, state };
}

function read<Desc extends DescMessage>(schema: Desc, state: object): MessageShape<Desc> {
  try {
    return fromJson(schema, state as JsonValue, { ignoreUnknownFields: true });
  } catch (cause) {
    const problem = messageOf(cause);
    throw new MalformedAnswer(`state is not what it should be: ${problem}`, { cause });
  }
}
