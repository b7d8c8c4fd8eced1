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
import { isJsonObject } from "../../platform/json.ts";
import { createTimeSlices } from "../../platform/loop-time.ts";
import { splitList, splitMessage } from "./split-list.ts";

type Ok = Extract<CallEnding, { kind: "ok" }>;

const empty = new Map<DescMessage, Ok>();

const reading = { ignoreUnknownFields: true } as const;
/** As it is published: proto3 JSON in snake_case with defaults. */
const publishing = { alwaysEmitImplicit: true, useProtoFieldName: true } as const;

/** A larger answer over gRPC is given up: decoding it would hold up everything else. */
const LARGEST_BINARY_BYTES = 256 * 1024;
/** An answer that is no list of messages is decoded in one go, up to this size. */
const LARGEST_UNDIVIDED_BYTES = 64 * 1024;
/** A longer answer over HTTPS, or a longer list over gRPC, is read in time slices. */
const LONGEST_AT_ONCE = 2 * 1024;
/**
 * How long the result of an answer may be, in characters. With its defaults an empty element becomes a
 * hundred times as long. Answers that gRPC can give are parsed again, in one go.
 */
const LONGEST_RESULT = 16 * 1024 * 1024;
const LONGEST_SMALL_RESULT = 1024 * 1024;
/** So many characters of a result are joined at a time: to join thousands of parts at once takes long. */
const JOINED_LENGTH = 64 * 1024;

function answerJson(desc: DescMessage, message: Message): string {
  return JSON.stringify(toJson(desc, message, publishing));
}

/**
 * The ending of an OK answer over gRPC. A long list of messages is read one by one in time slices of the
 * event loop. Rejects if the bytes are no such message, or too many.
 */
export async function okEndingOf(desc: DescMessage, bytes: Uint8Array): Promise<Ok> {
  const list = bytes.length > LONGEST_AT_ONCE ? listOf(desc) : null;
  const largest = list === null ? LARGEST_UNDIVIDED_BYTES : LARGEST_BINARY_BYTES;
  if (bytes.length > largest) {
    throw new Error(`the answer has ${bytes.length} bytes; at most ${largest} are read`);
  }
  if (bytes.length === 0) return emptyEnding(desc);
  if (list === null) return okEnding(desc, fromBinary(desc, bytes));
  const { elements, rest } = await splitMessage(bytes, list.number, createTimeSlices());
  const read = (element: Uint8Array) => fromBinary(list.message, element);
  return listEnding(desc, list, { elements, read, rest: fromBinary(desc, rest) }, LONGEST_SMALL_RESULT);
}

/**
 * Most answers to commands are empty, and alike for each kind: decoding each showed in the profile of 2,000 a
 * second.
 */
function emptyEnding(desc: DescMessage): Ok {
  const known = empty.get(desc);
  if (known !== undefined) return known;
  const ending = okEnding(desc, create(desc));
  empty.set(desc, ending);
  return ending;
}

/**
 * The ending of an OK answer as JSON text of any length, in pieces. A list of messages is read one by one in
 * time slices: a map has 10,000 points. Rejects if the text is no such message, or if a part of it is too
 * large.
 *
 * @param isSmall for an operation that gRPC has too: its answer may not be larger over HTTPS
 */
export async function okEndingOfJson(
  desc: DescMessage,
  pieces: readonly string[],
  isSmall = false,
): Promise<Ok> {
  const list = listOf(desc);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const split =
    list === null || length <= LONGEST_AT_ONCE
      ? null
      : await splitList(pieces, [list.jsonName, list.name], createTimeSlices());
  if (list === null || split === null) {
    const text = pieces.join("");
    // Only an answer without fields may be empty.
    const isNothing = text.trim() === "" && desc.fields.length === 0;
    return okEnding(desc, fromJson(desc, isNothing ? {} : JSON.parse(text), reading));
  }
  const parts = {
    elements: split.elements,
    read: (element: string) => fromJson(list.message, JSON.parse(element), reading),
    rest: fromJson(desc, JSON.parse(split.rest), reading),
  };
  return listEnding(desc, list, parts, isSmall ? LONGEST_SMALL_RESULT : LONGEST_RESULT);
}

/** An answer that consists of a list: its elements, and the rest. */
interface ListParts<Element> {
  readonly elements: readonly Element[];
  readonly read: (element: Element) => Message;
  readonly rest: Message;
}

async function listEnding<Element>(
  desc: DescMessage,
  list: ListOfMessages,
  { elements, read, rest }: ListParts<Element>,
  longest: number,
): Promise<Ok> {
  const slices = createTimeSlices();
  const texts: string[] = [];
  let text = "";
  let length = 0;
  for (const element of elements) {
    const part = answerJson(list.message, read(element));
    length += part.length;
    if (length > longest) {
      throw new Error(`the answer is longer than ${longest} characters with the defaults of its elements`);
    }
    text += length === part.length ? part : `,${part}`;
    if (text.length >= JOINED_LENGTH) {
      texts.push(text);
      text = "";
    }
    await slices.next();
  }
  const others = toJson(desc, rest, publishing) as JsonObject;
  const members = Object.entries(others).flatMap(([name, value], place) => [
    `${place === 0 ? "{" : ","}${JSON.stringify(name)}:`,
    ...(name === list.name ? ["[", ...texts, text, "]"] : [JSON.stringify(value)]),
  ]);
  const responseJson = [...members, "}"].join("");
  // Joining megabytes takes a whole slice, so the caller reads them in the next one.
  await slices.next();
  return { kind: "ok", responseJson, missionId: null, missionIds: [] };
}

type ListOfMessages = DescField & { readonly fieldKind: "list"; readonly listKind: "message" };

/** The list of messages that an answer consists of; null: it has none. Such answers name no missions. */
function listOf(desc: DescMessage): ListOfMessages | null {
  const isList = (field: DescField): field is ListOfMessages =>
    field.fieldKind === "list" && field.listKind === "message";
  return desc.fields.find(isList) ?? null;
}

/** The ending of an OK answer. */
function okEnding(desc: DescMessage, message: Message): Ok {
  const missionIds = missionIdsOf(message);
  return {
    kind: "ok",
    responseJson: answerJson(desc, message),
    missionId: missionIds[0] ?? null,
    missionIds,
  };
}

/** The missions that an answer names, in their order: one, or those of a workflow. */
function missionIdsOf(message: Message): readonly string[] {
  const named =
    "missionIds" in message && Array.isArray(message.missionIds)
      ? message.missionIds
      : ["missionId" in message ? message.missionId : ""];
  return named.filter((missionId) => typeof missionId === "string" && missionId !== "");
}

/** A list in an answer, by its snake_case name. Throws if it is missing: that is no evidence. */
export function listIn(answer: unknown, name: string): readonly unknown[] {
  const list = isJsonObject(answer) ? answer[name] : undefined;
  if (!Array.isArray(list)) throw new Error(`the answer has no list ${name}`);
  return list;
}

/** A value in an answer by its path; undefined: it is missing. */
export function valueIn(answer: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), answer);
}
