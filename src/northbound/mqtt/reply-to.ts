import type { IPublishPacket } from "mqtt";
import type { ReplyTo } from "./replies.ts";
import type { Topics } from "./topics.ts";

/** Who is asking, and for what: for the answer, and for the log. */
interface Asking {
  readonly client: string;
  readonly operation: string;
}

/** Where a message is answered: on its own response topic if the client may have it, else by its id. */
export function replyTo(
  topics: Topics,
  { client, operation }: Asking,
  packet: IPublishPacket,
  id: string | null,
): ReplyTo {
  const { responseTopic, correlationData } = packet.properties ?? {};
  const isOwn = responseTopic !== undefined && topics.mayAnswerOn(client, responseTopic);
  return {
    client,
    operation,
    id,
    topic: isOwn ? responseTopic : id === null ? null : topics.reply(client, id),
    correlationData: correlationData ?? null,
  };
}

/** Why a client may not have the response topic that it wants; null when it may, or wants none. */
export function responseTopicProblem(topics: Topics, client: string, packet: IPublishPacket): string | null {
  const response = packet.properties?.responseTopic;
  if (response === undefined || topics.mayAnswerOn(client, response)) return null;
  return "the response topic is outside the client's own subtree";
}

export function bytesOf(packet: IPublishPacket): Uint8Array {
  return typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
}
