import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { shortestFloat } from "../../platform/float.ts";
import type { Json, JsonObject } from "../../platform/json.ts";
import { BatteryEventStateSchema } from "../../wire/fleet/v1/battery_pb.js";
import { MissionEventStateSchema } from "../../wire/fleet/v1/mission_pb.js";
import type { RobotUpdate } from "../service/contract.ts";

const schemas = new Map<string, DescMessage>([
  ["mission", MissionEventStateSchema],
  ["battery", BatteryEventStateSchema],
]);

/**
 * The message that is `state` of an event type; undefined for an unknown type (docs/internals/service.md,
 * WHK-04).
 */
export function eventSchema(eventType: string): DescMessage | undefined {
  return schemas.get(eventType);
}

/** The default body of a delivery. */
export function renderEnvelope(event: RobotUpdate): JsonObject {
  const schema = eventSchema(event.eventType);
  if (schema === undefined) throw new Error(`there are no events of type ${event.eventType}`);
  return { robot_id: event.robotId, state: renderMessage(schema, event.state) };
}

/**
 * A message as webhooks carry it (docs/internals/service.md, WHK-27): snake_case
 * keys in the order of the field numbers, every scalar present, unset messages
 * null, the members of a oneof only where they are set.
 */
function renderMessage(schema: DescMessage, message: object): JsonObject {
  const entries: Array<readonly [string, Json]> = [];
  for (const field of inNumberOrder(schema)) {
    const { isMember, value } = readField(field, message);
    if (!isMember || value !== undefined) entries.push([field.name, renderField(field, value)]);
  }
  return Object.fromEntries(entries);
}

/**
 * The value of a field, and whether it is a member of a oneof: then undefined if another member is set, or
 * none.
 */
export function readField(
  field: DescField,
  message: object,
): { readonly isMember: boolean; readonly value: unknown } {
  // The library lays messages out this way: https://protobufes.com, "Generated code".
  const fields = message as Readonly<Record<string, unknown>>;
  if (field.oneof === undefined) return { isMember: false, value: fields[field.localName] };
  const choice = fields[field.oneof.localName] as { readonly case?: string; readonly value?: unknown };
  return { isMember: true, value: choice.case === field.localName ? choice.value : undefined };
}

function renderField(field: DescField, value: unknown): Json {
  if (field.fieldKind === "map") throw new Error(`${field.name}: events have no maps`);
  if (field.fieldKind !== "list") return renderValue(field, value);
  return (value as readonly unknown[]).map((element) => renderValue(field, element));
}

function renderValue(field: DescField, value: unknown): Json {
  const leaf = leafOf(field);
  if (leaf !== undefined) return leafJson(leaf, value ?? leafDefault(leaf));
  if (value === undefined || field.message === undefined) return null;
  return renderMessage(field.message, value as object);
}

const ordered = new WeakMap<DescMessage, readonly DescField[]>();

function inNumberOrder(schema: DescMessage): readonly DescField[] {
  const known = ordered.get(schema);
  if (known !== undefined) return known;
  const fields = [...schema.fields].sort((one, other) => one.number - other.number);
  ordered.set(schema, fields);
  return fields;
}

/** The type of a value that a filter may compare and a placeholder may name. */
export type Leaf =
  | { readonly kind: "enum"; readonly type: DescEnum }
  | { readonly kind: "scalar"; readonly type: ScalarType }
  | { readonly kind: "timestamp" };

/** The leaf for a field, or for an element of it; undefined for messages and maps. */
export function leafOf(field: DescField): Leaf | undefined {
  const enumType = field.enum;
  if (enumType !== undefined) return { kind: "enum", type: enumType };
  const message = field.message;
  if (message !== undefined) {
    return message.typeName === "google.protobuf.Timestamp" ? { kind: "timestamp" } : undefined;
  }
  return field.scalar === undefined ? undefined : { kind: "scalar", type: field.scalar };
}

/**
 * A leaf's value in JSON: enums by name, or by number if they have none; times in ISO 8601 with milliseconds.
 */
export function leafJson(leaf: Leaf, value: unknown): string | number | boolean | null {
  switch (leaf.kind) {
    case "enum":
      return leaf.type.value[Number(value)]?.name ?? Number(value);
    case "timestamp":
      // The field's own type says what its value is.
      return value === undefined ? null : new Date(wholeMs(value as Timestamp)).toISOString();
    case "scalar":
      return scalarJson(leaf.type, value);
  }
}

/** The default of a leaf. */
export function leafDefault(leaf: Leaf): unknown {
  if (leaf.kind === "timestamp") return undefined;
  if (leaf.kind === "enum") return leaf.type.values[0]?.number ?? 0;
  if (leaf.type === ScalarType.STRING) return "";
  return leaf.type === ScalarType.BOOL ? false : 0;
}

function scalarJson(type: ScalarType, value: unknown): string | number | boolean {
  switch (typeof value) {
    case "bigint":
      return Number(value);
    case "number":
      return type === ScalarType.FLOAT ? shortestFloat(value) : value;
    case "boolean":
    case "string":
      return value;
    default:
      throw new TypeError(`an event holds a ${typeof value} where a scalar was expected`);
  }
}

/**
 * The whole milliseconds since 1970 of a time, rounded down, because a time must not appear later than it
 * was.
 */
export function wholeMs({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + Math.floor(nanos / 1_000_000);
}
