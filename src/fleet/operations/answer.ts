import { type DescMessage, type Message, toJson } from "@bufbuild/protobuf";

/** An answer as it is published: proto3 JSON in snake_case with defaults, as text. */
export function answerJson(desc: DescMessage, message: Message): string {
  return JSON.stringify(toJson(desc, message, { alwaysEmitImplicit: true, useProtoFieldName: true }));
}

/** The mission that an answer names; of a workflow, the first. */
export function missionIdOf(message: Message): string | null {
  if ("missionId" in message && typeof message.missionId === "string") return message.missionId || null;
  if ("missionIds" in message && Array.isArray(message.missionIds)) {
    const first: unknown = message.missionIds[0];
    return typeof first === "string" ? first : null;
  }
  return null;
}
