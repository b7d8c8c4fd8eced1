import type { IPublishPacket } from "mqtt";
import type { ReplyTo } from "./replies.ts";
import type { Topics } from "./topics.ts";

/** Who is asking, and for what: for the answer, and for the log. */
interface Asking {
  readonly client: string;
  readonly operation: string;
}

/** What is kept of a sender's own while its command runs, each: thousands may run at once. */
const LONGEST_KEPT_BYTES = 1_024;

/** Where a message is answered: on its own response topic if the client may have it, else by its id. */
export function replyTo(
  topics: Topics,
  { client, operation }: Asking,
  packet: IPublishPacket,
  id: string | null,
): ReplyTo {
  const { responseTopic, correlationData } = packet.properties ?? {};
  const isOwn = responseTopic !== undefined && answerProblem(topics, client, packet) === null;
  return {
    client,
    operation,
    id,
    topic: isOwn ? responseTopic : id === null ? null : topics.reply(client, id),
    correlationData: isTooLong(correlationData) ? null : (correlationData ?? null),
  };
}

/**
 * Why a client cannot be answered as it wants (MQTT 5: response topic, correlation data); null when it can.
 */
export function answerProblem(topics: Topics, client: string, packet: IPublishPacket): string | null {
  const { responseTopic, correlationData } = packet.properties ?? {};
  if (isTooLong(correlationData)) return `correlation data of more than ${LONGEST_KEPT_BYTES} bytes`;
  if (responseTopic === undefined) return null;
  if (isTooLong(responseTopic)) return `a response topic of more than ${LONGEST_KEPT_BYTES} bytes`;
  return topics.mayAnswerOn(client, responseTopic)
    ? null
    : "the response topic is outside the client's own subtree";
}

function isTooLong(kept: Buffer | string | undefined): boolean {
  return kept !== undefined && Buffer.byteLength(kept) > LONGEST_KEPT_BYTES;
}

export function bytesOf(packet: IPublishPacket): Uint8Array {
  return typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
}
