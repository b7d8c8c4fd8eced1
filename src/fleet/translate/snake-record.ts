import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Json, JsonObject } from "../../platform/json.ts";
import { isJsonObject } from "../../platform/json.ts";

/** An answer of the service does not have the shape of its message. */
export class MalformedAnswer extends Error {
  override readonly name = "MalformedAnswer";
}

/**
 * Turns JSON of the service, in either spelling, into the published form: snake_case, every scalar present,
 * unset messages null. Fields that the message does not have are left out. Throws MalformedAnswer for a wrong
 * type.
 */
export type SnakeRecord = (json: Json) => Readonly<Record<string, unknown>>;

type Reader = (json: Json, path: string) => unknown;
interface Plan {
  readonly camel: string;
  readonly snake: string;
  readonly unset: () => unknown;
  readonly read: Reader;
}

/**
 * Made once for a message, from its descriptor: a list of 1,000 robots is read every two seconds, so nothing
 * is looked up while reading.
 */
export function createSnakeRecord(desc: DescMessage): SnakeRecord {
  const read = messageReader(desc);
  return (json) => read(json, "") as Readonly<Record<string, unknown>>;
}

function messageReader(desc: DescMessage): Reader {
  // Messages with JSON of any shape: Value, Struct, ListValue.
  if (desc.typeName.startsWith("google.protobuf.")) return (json) => json;
  const plans: readonly Plan[] = desc.fields.map((field) => ({
    camel: field.jsonName,
    snake: field.name,
    unset: unsetValue(field),
    read: fieldReader(field),
  }));
  return (json, path) => {
    if (!isJsonObject(json)) throw malformed(path, "an object", json);
    const source: JsonObject = json;
    const record: Record<string, unknown> = {};
    for (const plan of plans) {
      const value = source[plan.camel] ?? source[plan.snake];
      record[plan.snake] =
        value === undefined || value === null ? plan.unset() : plan.read(value, plan.camel);
    }
    return record;
  };
}

function fieldReader(field: DescField): Reader {
  switch (field.fieldKind) {
    case "scalar":
      return scalarReader(field.scalar);
    case "message":
      return messageReader(field.message);
    case "list": {
      const item: Reader =
        field.listKind === "message"
          ? messageReader(field.message)
          : field.listKind === "scalar"
            ? scalarReader(field.scalar)
            : (json) => json;
      return (json, path) => {
        if (!Array.isArray(json)) throw malformed(path, "a list", json);
        return json.map((value: Json) => item(value, path));
      };
    }
    case "enum":
    case "map":
      return (json) => json;
  }
}

function scalarReader(scalar: ScalarType): Reader {
  switch (scalar) {
    case ScalarType.STRING:
      return (json, path) => {
        if (typeof json !== "string") throw malformed(path, "a text", json);
        return json;
      };
    case ScalarType.BOOL:
      return (json, path) => {
        if (typeof json !== "boolean") throw malformed(path, "true or false", json);
        return json;
      };
    case ScalarType.INT32:
      return (json, path) => {
        const value = numberIn(json, path);
        if ((value | 0) !== value) throw malformed(path, "a whole number of 32 bits", json);
        return value;
      };
    default:
      return numberIn;
  }
}

function numberIn(json: Json, path: string): number {
  // proto3 JSON allows numbers as text.
  const value = typeof json === "string" && json.trim() !== "" ? Number(json) : json;
  // JSON has no infinity, but 1e999 parses as one.
  if (typeof value !== "number" || !Number.isFinite(value)) throw malformed(path, "a number", json);
  return value;
}

function unsetValue(field: DescField): () => unknown {
  switch (field.fieldKind) {
    case "list":
      return () => [];
    case "map":
      return () => ({});
    case "message":
      return () => null;
    case "enum":
      return () => 0;
    case "scalar":
      if (field.scalar === ScalarType.STRING) return () => "";
      return field.scalar === ScalarType.BOOL ? () => false : () => 0;
  }
}

function malformed(path: string, wanted: string, found: Json): MalformedAnswer {
  const kind = found === null ? "null" : Array.isArray(found) ? "a list" : typeof found;
  return new MalformedAnswer(`${path === "" ? "the answer" : path} should be ${wanted}, and is ${kind}`);
}
