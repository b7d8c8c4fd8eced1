import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import type { CallEnding } from "../../contracts/fleet-port.ts";
import { createTurns } from "../../platform/turns.ts";
import { splitList } from "./split-list.ts";

type Ok = Extract<CallEnding, { kind: "ok" }>;

const empty = new Map<DescMessage, Ok>();

const reading = { ignoreUnknownFields: true } as const;
/** As it is published: proto3 JSON in snake_case with defaults. */
const publishing = { alwaysEmitImplicit: true, useProtoFieldName: true } as const;

/** An answer over gRPC that is larger is given up: decoding it would hold up everything else. */
const LARGEST_BINARY_BYTES = 256 * 1024;
/** An answer over HTTPS that is longer is read in turns. */
const LONGEST_AT_ONCE = 16 * 1024;

function answerJson(desc: DescMessage, message: Message): string {
  return JSON.stringify(toJson(desc, message, publishing));
}

/**
 * What the service said OK with, as it came over gRPC. Throws when the bytes are no such message, or too
 * many.
 */
export function okEndingOf(desc: DescMessage, bytes: Uint8Array): Ok {
  if (bytes.length > LARGEST_BINARY_BYTES) {
    throw new Error(`the answer has ${bytes.length} bytes; at most ${LARGEST_BINARY_BYTES} are read`);
  }
  return bytes.length === 0 ? emptyEnding(desc) : okEnding(desc, fromBinary(desc, bytes));
}

/**
 * Most answers to commands are empty, and all of one kind alike: decoding each showed in the profile of 2,000
 * a second.
 */
function emptyEnding(desc: DescMessage): Ok {
  const known = empty.get(desc);
  if (known !== undefined) return known;
  const ending = okEnding(desc, create(desc));
  empty.set(desc, ending);
  return ending;
}

/**
 * What the service said OK with, as JSON text of any length. A list of messages is read one by one in turns
 * of the event loop: a map has 10,000 points. Rejects when the text is no such message, or one part of it is
 * too large.
 */
export async function okEndingOfJson(desc: DescMessage, text: string): Promise<Ok> {
  const list = listOf(desc);
  const turns = createTurns();
  const split =
    list === null || text.length <= LONGEST_AT_ONCE
      ? null
      : await splitList(text, [list.jsonName, list.name], turns);
  if (list === null || split === null) {
    return okEnding(desc, fromJson(desc, text.trim() === "" ? {} : JSON.parse(text), reading));
  }
  const parts: string[] = [];
  for (const element of split.elements) {
    const item = fromJson(list.message, JSON.parse(element), reading);
    parts.push(JSON.stringify(toJson(list.message, item, publishing)));
    await turns.next();
  }
  const rest = toJson(desc, fromJson(desc, JSON.parse(split.rest), reading), publishing) as JsonObject;
  const members = Object.entries(rest).map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${name === list.name ? `[${parts.join(",")}]` : JSON.stringify(value)}`,
  );
  return { kind: "ok", responseJson: `{${members.join(",")}}`, missionId: null, missionIds: [] };
}

type ListOfMessages = DescField & { readonly fieldKind: "list"; readonly listKind: "message" };

/** The list of messages that an answer consists of; null where it has none. No such answer names missions. */
function listOf(desc: DescMessage): ListOfMessages | null {
  const isList = (field: DescField): field is ListOfMessages =>
    field.fieldKind === "list" && field.listKind === "message";
  return desc.fields.find(isList) ?? null;
}

/** What the service said OK with. */
function okEnding(desc: DescMessage, message: Message): Ok {
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
