import type { IPublishPacket } from "mqtt";
import type { Alarms } from "../../contracts/alarms.ts";
import type { Holds } from "../../contracts/holds.ts";
import { quoted } from "../../domain/clip.ts";
import type { Source } from "../../domain/command.ts";
import { ending, type Outcome, refusal } from "../../domain/outcome.ts";
import {
  type Answer,
  answerProblem,
  bytesOf,
  type MessageShape,
  own,
  readObject,
  replyTo,
} from "./message.ts";
import type { AlarmTopic, Topics } from "./topics.ts";

const acknowledgement: MessageShape = {
  kind: "message to alarm/ack",
  fields: ["id", "alarm_id"],
  example: '{"id","alarm_id"}',
};
const service: MessageShape = {
  kind: "message to alarm/service",
  fields: ["id", "robot_id", "out_of_service"],
  example: '{"id","robot_id","out_of_service":true}',
};
const LONGEST_ID = 256;

interface AlarmMessageParts {
  readonly topics: Topics;
  readonly alarms: Alarms;
  readonly holds: Holds;
}

/** What is asked, and of which robot where one is named. */
interface Asked {
  readonly robotId: string | null;
  /** Null when it is done; otherwise the refusal. */
  perform(source: Source): Outcome | null;
}

type ReadAlarmMessage =
  | { readonly ok: true; readonly id: string; readonly asked: Asked }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

/**
 * Takes what a client says of alarms: `ack` with `{"id","alarm_id"}`, or `service` with
 * `{"id","robot_id","out_of_service":true|false}`. Either is taken as often as it comes.
 */
export function takeAlarmMessage(
  parts: AlarmMessageParts,
  { client, action }: AlarmTopic,
  packet: IPublishPacket,
): Answer {
  const { topics } = parts;
  const bytes = bytesOf(packet);
  const read = action === "service" ? readService(bytes, parts) : readAcknowledgement(bytes, parts.alarms);
  const to = replyTo(topics, { client, operation: `alarm/${action}` }, packet, read.id);
  const robotId = read.ok ? read.asked.robotId : null;
  const answer = (outcome: Outcome): Answer => ({ to, outcome, robotId });
  if (packet.retain) return answer(refusal("RETAINED", "commands must not be retained"));
  if (action !== "ack" && action !== "service")
    return answer(refusal("UNKNOWN_OPERATION", `alarm has ack and service, and not ${quoted(action)}`));
  if (!read.ok) return answer(refusal("MALFORMED", read.reason));
  const cannotAnswer = answerProblem(topics, client, packet);
  if (cannotAnswer !== null) return answer(refusal("MALFORMED", cannotAnswer));
  const refused = read.asked.perform({ protocol: "mqtt", name: client });
  return answer(refused ?? ending("succeeded", "OK", "", true));
}

function readAcknowledgement(payload: Uint8Array, alarms: Alarms): ReadAlarmMessage {
  const read = readObject(payload, acknowledgement);
  if (!read.ok) return read;
  const alarmId = own(read.object, "alarm_id");
  if (!isName(alarmId)) return { ok: false, id: read.id, reason: nameFault("alarm_id", alarmId) };
  const perform = (source: Source) => alarms.acknowledge({ source, alarmId });
  return { ok: true, id: read.id, asked: { robotId: null, perform } };
}

function readService(payload: Uint8Array, { alarms, holds }: AlarmMessageParts): ReadAlarmMessage {
  const read = readObject(payload, service);
  if (!read.ok) return read;
  const { id } = read;
  const [robotId, isOut] = [own(read.object, "robot_id"), own(read.object, "out_of_service")];
  if (!isName(robotId)) return { ok: false, id, reason: nameFault("robot_id", robotId) };
  if (typeof isOut !== "boolean") return { ok: false, id, reason: "out_of_service: must be true or false" };
  const perform = (source: Source) =>
    holds.refusedName(robotId) ?? alarms.putOutOfService({ source, robotId, isOut });
  return { ok: true, id, asked: { robotId, perform } };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= LONGEST_ID;
}

function nameFault(field: string, value: unknown): string {
  return value === undefined
    ? `${field}: is missing`
    : `${field}: must be text of 1 to ${LONGEST_ID} characters`;
}
