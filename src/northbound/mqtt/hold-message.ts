import type { IPublishPacket } from "mqtt";
import type { HoldRequest, Holds } from "../../contracts/holds.ts";
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
import type { HoldTopic, Topics } from "./topics.ts";

const shape: MessageShape = {
  kind: "hold",
  fields: ["id", "hold", "user"],
  example: '{"id","hold":true}',
};

/**
 * Handles a client's message about a hold: `{"id","hold":true|false,"user"?}`. It is done as often as it
 * comes.
 */
export function takeHoldMessage(
  parts: { readonly topics: Topics; readonly holds: Holds },
  topic: HoldTopic,
  packet: IPublishPacket,
): Answer {
  const { topics, holds } = parts;
  const { client, robotId } = topic;
  const read = readHoldMessage(bytesOf(packet));
  const to = replyTo(topics, { client, operation: "hold" }, packet, read.id);
  const answer = (outcome: Outcome): Answer => ({ to, outcome, robotId: robotId ?? null });
  if (packet.retain) return answer(refusal("RETAINED", "holds must not be retained"));
  if (!read.ok) return answer(refusal("MALFORMED", read.reason));
  const cannotAnswer = answerProblem(topics, client, packet);
  if (cannotAnswer !== null) return answer(refusal("MALFORMED", cannotAnswer));
  if (robotId === undefined)
    return answer(refusal("MALFORMED", "the robot in the topic is not percent-encoded text"));
  const unknown = robotId === null ? null : holds.refusedName(robotId);
  const refused =
    unknown ?? holds.hold({ source: { protocol: "mqtt", name: client }, robotId, ...read.asked });
  if (refused !== null) return answer(refused);
  const { isHeld: held, by } = holds.holdState(robotId);
  return answer({ ...ending("succeeded", "OK", "", true), responseJson: JSON.stringify({ held, by }) });
}

type ReadHoldMessage =
  | { readonly ok: true; readonly id: string; readonly asked: Pick<HoldRequest, "isHeld" | "user"> }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

function readHoldMessage(payload: Uint8Array): ReadHoldMessage {
  const read = readObject(payload, shape);
  if (!read.ok) return read;
  const { id } = read;
  const [hold, user] = [own(read.object, "hold"), own(read.object, "user")];
  if (typeof hold !== "boolean") return { ok: false, id, reason: "hold: must be true or false" };
  if (user === undefined) return { ok: true, id, asked: { isHeld: hold } };
  if (hold)
    return { ok: false, id, reason: "user: stands beside hold false only, and names whose hold is lifted" };
  if (typeof user !== "string") return { ok: false, id, reason: "user: must be text, as mqtt:scada" };
  return { ok: true, id, asked: { isHeld: false, user } };
}
