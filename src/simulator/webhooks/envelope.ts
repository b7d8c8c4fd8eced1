import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Json, JsonObject } from "../../platform/json.ts";
import { BatteryEventStateSchema } from "../../wire/fleet/v1/battery_pb.js";
import { MissionEventStateSchema } from "../../wire/fleet/v1/mission_pb.js";
import type { RobotUpdate } from "../service/contract.ts";
import { leafDefault, leafJson, leafOf } from "./scalar.ts";

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
