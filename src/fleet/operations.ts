import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import type { Parsed, ParsedRequest, Problem } from "../contracts/operation.ts";
import type { DescribedOperation, OperationManual, RequestField } from "../contracts/operation-manual.ts";
import { messageOf } from "../platform/error-text.ts";
import { isJsonObject, type Json, type JsonObject } from "../platform/json.ts";
import { chainOperations } from "./operations/chain-operations.ts";
import { checkMessage } from "./operations/check.ts";
import { missionOperations } from "./operations/mission-operations.ts";
import { type Method, methodOf, type Row, sealRequest } from "./operations/row.ts";
import { webhookOperations } from "./operations/webhook-operations.ts";

/** As canonical JSON: many times the longest known request. Bounds what the gateway keeps of each. */
const LONGEST_REQUEST = 131_072;

/**
 * Every unary operation of the fleet service: messages and routes from the descriptors, the rest from
 * the rows.
 */
export function createCatalogue(): OperationManual {
  return new Map(
    [...missionOperations, ...chainOperations, ...webhookOperations].map(([desc, row]) => [
      desc.name,
      createOperation(methodOf(desc), row),
    ]),
  );
}

function createOperation(method: Method, row: Row): DescribedOperation {
  const { role, secretMaps = [], summary, german, required = [] } = row;
  const fields = requestFields(method.desc.input, required);

  function parse(json: unknown): Parsed {
    const problem = checkMessage(method.desc.input, json, "") ?? checkRequired(method, required, json);
    if (problem !== null) return { ok: false, problem };
    try {
      const request = readRequest(method, row, json as JsonValue);
      const { length } = request.json;
      if (length > LONGEST_REQUEST)
        return problemOf(`has ${length} characters, and may have ${LONGEST_REQUEST}`);
      return { ok: true, request };
    } catch (error) {
      // For whatever the check does not cover: the decoder decides.
      return problemOf(messageOf(error));
    }
  }

  return {
    name: method.name,
    role,
    secretMaps,
    summary,
    german,
    examples: Object.entries(row.examples).map(([title, request]) => ({ title, request })),
    fields,
    robotField: robotFieldOf(fields),
    parse,
  };
}

function problemOf(message: string): Parsed {
  return { ok: false, problem: { path: "", message } };
}

function readRequest(method: Method, row: Row, json: JsonValue): ParsedRequest {
  const message = fromJson(method.desc.input, json);
  const { effect, subject, repeat, evidence, identityField, conveyors, switches, destination } =
    row.evaluate(message);
  return {
    json: canonicalJson(method.desc.input, message),
    payload: sealRequest(method, message),
    robotId: subject.kind === "robot" ? subject.robotId : null,
    effect,
    subject,
    repeat,
    evidence,
    identityField: identityField ?? null,
    conveyors: conveyors ?? null,
    switches: switches ?? [],
    destination: destination ?? null,
  };
}

/**
 * The canonical text of a request: proto3 JSON, camelCase, defaults left out, keys sorted. Requests with the
 * same meaning have the same text, and so the same digest.
 */
function canonicalJson(desc: DescMessage, message: Message): string {
  return JSON.stringify(inOrder(toJson(desc, message)));
}

function inOrder(json: Json): Json {
  if (Array.isArray(json)) return json.map(inOrder);
  if (!isJsonObject(json)) return json;
  // Without a prototype, so that a key "__proto__" is an ordinary key.
  const sorted: Record<string, Json> = Object.create(null);
  for (const key of inOrderKeys(json)) sorted[key] = inOrder(json[key] ?? null);
  return sorted;
}

/** Most are sorted already, and sorting takes memory even then. */
function inOrderKeys(json: JsonObject): string[] {
  const keys = Object.keys(json);
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key) ? keys : keys.sort();
}

/** A required field must be there, and a text must not be empty. */
function checkRequired({ desc }: Method, required: readonly string[], json: unknown): Problem | null {
  if (!isJsonObject(json)) return null;
  for (const name of required) {
    const field = desc.input.fields.find((each) => each.name === name);
    const value = json[name] ?? (field === undefined ? undefined : json[field.jsonName]);
    if (value === undefined || value === null || value === "") return { path: name, message: "is required" };
  }
  return null;
}

/**
 * The fields of a request, from its descriptor; `required` names those without which the request has no
 * meaning.
 */
function requestFields(desc: DescMessage, required: readonly string[]): readonly RequestField[] {
  return desc.fields.map((field) => ({ ...describe(field), isRequired: required.includes(field.name) }));
}

function describe(field: DescField): RequestField {
  const message = field.fieldKind === "map" ? undefined : field.message;
  const isOpen = message?.typeName.startsWith("google.protobuf.") ?? false;
  return {
    name: field.name,
    jsonName: field.jsonName,
    type: typeOf(field),
    isList: field.fieldKind === "list",
    isRequired: false,
    oneOf: field.oneof?.name ?? null,
    values: field.fieldKind === "map" ? [] : (field.enum?.values.map(({ name }) => name) ?? []),
    fields: message === undefined || isOpen ? [] : message.fields.map(describe),
  };
}

function typeOf(field: DescField): string {
  if (field.fieldKind === "map") return "map";
  const named = field.message ?? field.enum;
  if (named !== undefined) return named.name;
  return field.scalar === undefined ? "unknown" : (ScalarType[field.scalar] ?? "unknown").toLowerCase();
}

/** Where a request names its robot: by robot_id or by amr_id, at the top level or one level below. */
function robotFieldOf(fields: readonly RequestField[]): DescribedOperation["robotField"] {
  for (const { name, jsonName, fields: inner, isList } of fields) {
    if (name === "robot_id") return { path: [jsonName], by: "id" };
    if (name === "amr_id") return { path: [jsonName], by: "number" };
    const within = isList ? null : robotFieldOf(inner);
    if (within !== null) return { path: [jsonName, ...within.path], by: within.by };
  }
  return null;
}
