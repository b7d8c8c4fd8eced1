import { type DescMessage, type Message, toJson } from "@bufbuild/protobuf";
import type { CallEnding } from "../../contracts/fleet-port.ts";

/** An answer as it is published: proto3 JSON in snake_case with defaults, as text. */
function answerJson(desc: DescMessage, message: Message): string {
  return JSON.stringify(toJson(desc, message, { alwaysEmitImplicit: true, useProtoFieldName: true }));
}

/** What the service said OK with. */
export function okEnding(desc: DescMessage, message: Message): Extract<CallEnding, { kind: "ok" }> {
  const missionIds = missionIdsOf(message);
  return {
    kind: "ok",
    responseJson: answerJson(desc, message),
    missionId: missionIds[0] ?? null,
    missionIds,
  };
}

/** The missions that an answer names, in its order: one, or a workflow's. */
function missionIdsOf(message: Message): readonly string[] {
  const named =
    "missionIds" in message && Array.isArray(message.missionIds)
      ? message.missionIds
      : ["missionId" in message ? message.missionId : ""];
  return named.filter((missionId) => typeof missionId === "string" && missionId !== "");
}
