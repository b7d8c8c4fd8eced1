import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Problem } from "../../contracts/operation.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";

/**
 * The first thing wrong with a request in proto3 JSON, with its path as the sender
 * wrote it; null when it has the message's shape. Keys may be camelCase or
 * snake_case, enums names or numbers (docs/internals/service.md, END-29).
 */
export function checkMessage(desc: DescMessage, json: unknown, path: string): Problem | null {
  switch (desc.typeName) {
    case "google.protobuf.Any":
      return { path, message: "is kept for the maker; no operation takes it" };
    case "google.protobuf.Struct":
      return isJsonObject(json) ? checkFree(json, path) : wrong(path, "an object", json);
    case "google.protobuf.Value":
      return checkFree(json, path);
    case "google.protobuf.Timestamp":
      return typeof json === "string" ? null : wrong(path, "an ISO 8601 time", json);
  }
  if (!isJsonObject(json)) return wrong(path, "an object", json);
  let seen: Map<DescField, string> | null = null;
  for (const key of Object.keys(json)) {
    const value = json[key] ?? null;
    const field = fieldOf(desc, key);
    const here = path === "" ? key : `${path}.${key}`;
    if (field === undefined)
      return { path: here, message: `is no field of ${desc.name}, which has ${namesOf(desc)}` };
    const twice = seen === null ? null : checkTwice(field, key, seen, path);
    const problem = twice ?? (value === null ? null : checkField(field, value, here));
    if (problem !== null) return problem;
    if (value === null) continue;
    seen ??= new Map();
    seen.set(field, key);
  }
  return null;
}

const fieldsOf = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

/** Finds a field by either of its names. */
function fieldOf(desc: DescMessage, key: string): DescField | undefined {
  let fields = fieldsOf.get(desc);
  if (fields === undefined) {
    fields = new Map(
      desc.fields.flatMap((field) => [field.jsonName, field.name].map((name) => [name, field])),
    );
    fieldsOf.set(desc, fields);
  }
  return fields.get(key);
}

function checkTwice(
  field: DescField,
  key: string,
  seen: Map<DescField, string>,
  path: string,
): Problem | null {
  const before = seen.get(field);
  if (before !== undefined) return { path, message: `has the same field twice: ${before} and ${key}` };
  const other = field.oneof?.fields.find((each) => seen.has(each));
  return other === undefined ? null : { path, message: `may have only one of ${seen.get(other)} and ${key}` };
}

function checkField(field: DescField, json: Json, path: string): Problem | null {
  switch (field.fieldKind) {
    case "message":
      return checkMessage(field.message, json, path);
    case "enum":
      return checkEnum(field.enum, json, path);
    case "scalar":
      return checkScalar(field.scalar, json, path);
    case "list":
      if (!Array.isArray(json)) return wrong(path, "a list", json);
      for (const [index, item] of json.entries()) {
        const problem = checkItem(field, item, `${path}.${index}`);
        if (problem !== null) return problem;
      }
      return null;
    case "map":
      if (!isJsonObject(json)) return wrong(path, "an object", json);
      if (Object.hasOwn(json, LOST_KEY)) return lost(path);
      for (const [key, item] of Object.entries(json)) {
        const problem = checkItem(field, item, `${path}.${key}`);
        if (problem !== null) return problem;
      }
      return null;
  }
}

function checkItem(
  field: Extract<DescField, { fieldKind: "list" | "map" }>,
  json: Json,
  path: string,
): Problem | null {
  const kind = field.fieldKind === "list" ? field.listKind : field.mapKind;
  if (kind === "message" && field.message !== undefined) return checkMessage(field.message, json, path);
  if (kind === "enum" && field.enum !== undefined) return checkEnum(field.enum, json, path);
  return field.scalar === undefined ? null : checkScalar(field.scalar, json, path);
}

function checkEnum(desc: DescEnum, json: Json, path: string): Problem | null {
  if (typeof json === "number" && Number.isInteger(json)) return null;
  if (typeof json === "string" && desc.values.some(({ name }) => name === json)) return null;
  const names = desc.values.map(({ name }) => name).join(", ");
  return { path, message: `should be one of ${names}, and is ${show(json)}` };
}

const numbersAsText: ReadonlySet<string> = new Set(["NaN", "Infinity", "-Infinity"]);

/** The decoder drops this key silently. */
const LOST_KEY = "__proto__";

function lost(path: string): Problem {
  return { path, message: `has the key "${LOST_KEY}", which no message can carry` };
}

/** JSON of any shape, with keys that a user chose. */
function checkFree(json: unknown, path: string): Problem | null {
  if (typeof json !== "object" || json === null) return null;
  if (Object.hasOwn(json, LOST_KEY)) return lost(path);
  for (const [key, value] of Object.entries(json)) {
    const problem = checkFree(value, `${path}.${key}`);
    if (problem !== null) return problem;
  }
  return null;
}

function checkScalar(scalar: ScalarType, json: Json, path: string): Problem | null {
  switch (scalar) {
    case ScalarType.STRING:
      return checkText(json, path);
    case ScalarType.BOOL:
      return typeof json === "boolean" ? null : wrong(path, "true or false", json);
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      if (typeof json === "string" && numbersAsText.has(json)) return null;
      return Number.isFinite(numberOf(json)) ? null : wrong(path, "a number", json);
    default: {
      const value = numberOf(json);
      const isFitting = Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;
      return isFitting ? null : wrong(path, "a whole number of 32 bits", json);
    }
  }
}

/**
 * No text of the interface is longer. A service that repeated a longer one in its refusal could not send the
 * refusal, because HTTP/2 bounds its headers, and the ending would be unknown.
 */
const LONGEST_TEXT = 4_096;

function checkText(json: Json, path: string): Problem | null {
  if (typeof json !== "string") return wrong(path, "a text", json);
  if (json.length <= LONGEST_TEXT) return null;
  return { path, message: `has ${json.length} characters, and may have ${LONGEST_TEXT}` };
}

function numberOf(json: Json): number {
  if (typeof json === "number") return json;
  return typeof json === "string" && json.trim() === json && json !== "" ? Number(json) : Number.NaN;
}

function wrong(path: string, wanted: string, json: unknown): Problem {
  return { path, message: `should be ${wanted}, and is ${show(json)}` };
}

function show(json: unknown): string {
  if (json === undefined) return "missing";
  if (Array.isArray(json)) return "a list";
  if (typeof json === "object" && json !== null) return "an object";
  // JSON has no infinity, and would contain null.
  const text = typeof json === "number" ? String(json) : (JSON.stringify(json) ?? String(json));
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function namesOf(desc: DescMessage): string {
  return desc.fields.length === 0 ? "none" : desc.fields.map(({ name }) => name).join(", ");
}
