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
  readName,
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

interface AlarmMessageParts {
  readonly topics: Topics;
  readonly alarms: Alarms;
  readonly holds: Holds;
}

/** A request, with its robot if it names one. */
interface Asked {
  readonly robotId: string | null;
  /** Null: it is done; otherwise the refusal. */
  perform(source: Source): Outcome | null;
}

type ReadAlarmMessage =
  | { readonly ok: true; readonly id: string; readonly asked: Asked }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

/**
 * Handles a client's message about alarms: `ack` with `{"id","alarm_id"}`, or `service` with
 * `{"id","robot_id","out_of_service":true|false}`. Each is done as often as it comes.
 */
export async function takeAlarmMessage(
  parts: AlarmMessageParts,
  { client, action }: AlarmTopic,
  packet: IPublishPacket,
): Promise<Answer> {
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
  if (refused !== null) return answer(refused);
  return answer(ending("succeeded", "OK", (await parts.alarms.storeProblem()) ?? "", true));
}

function readAcknowledgement(payload: Uint8Array, alarms: Alarms): ReadAlarmMessage {
  const read = readObject(payload, acknowledgement);
  if (!read.ok) return read;
  const { id } = read;
  const alarm = readName(read.object, "alarm_id");
  if (!alarm.ok) return { ...alarm, id };
  const perform = (source: Source) => alarms.acknowledge({ source, alarmId: alarm.name });
  return { ok: true, id, asked: { robotId: null, perform } };
}

function readService(payload: Uint8Array, { alarms, holds }: AlarmMessageParts): ReadAlarmMessage {
  const read = readObject(payload, service);
  if (!read.ok) return read;
  const { id } = read;
  const robot = readName(read.object, "robot_id");
  if (!robot.ok) return { ...robot, id };
  const isOut = own(read.object, "out_of_service");
  if (typeof isOut !== "boolean") return { ok: false, id, reason: "out_of_service: must be true or false" };
  const robotId = robot.name;
  const perform = (source: Source) =>
    holds.refusedName(robotId) ?? alarms.putOutOfService({ source, robotId, isOut });
  return { ok: true, id, asked: { robotId, perform } };
}
