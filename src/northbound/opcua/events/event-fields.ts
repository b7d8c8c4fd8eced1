import { DataType, Variant } from "node-opcua";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import { lineage, type ObjectModel, type TagModel } from "../model/member.ts";
import { variant } from "../node-opcua/computed-event.ts";
import type { EventFields } from "../node-opcua/raise-event.ts";

/** An event as other protocols publish it. */
export type EventJson = Readonly<Record<string, unknown>>;

const nothing = new Variant({});

/**
 * The fields of an event of this type, from the JSON of the event: `mission_id` is `MissionId`, and `user` in
 * `command` is `CommandUser`. What the JSON lacks is null.
 */
export function eventFields(type: ObjectModel, json: EventJson): EventFields {
  const values = new Map(namedValues("", json));
  const models = lineage(type).flatMap(({ tags }) => Object.entries(tags));
  return Object.fromEntries(
    models.map(([name, model]) => [`${FLEET_NAMESPACE_INDEX}:${name}`, variantOf(model, values.get(name))]),
  );
}

/** The values of an event's JSON with the names of fields. */
export function namedValues(prefix: string, json: EventJson): ReadonlyArray<readonly [string, unknown]> {
  return Object.entries(json).flatMap(([key, value]) => {
    const name = prefix + fieldName(key);
    return typeof value === "object" && value !== null
      ? namedValues(name, value as EventJson)
      : [[name, value] as const];
  });
}

function fieldName(key: string): string {
  return key.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function variantOf({ type, numbers }: TagModel, value: unknown): Variant {
  if (type === "Boolean") return variant(DataType.Boolean, value === true);
  if (value === undefined || value === null) return nothing;
  if (numbers === undefined || typeof value === "number") return variant(DataType[type], value);
  const named = numbers.values.find(({ name }) => name === String(value).toUpperCase());
  return named === undefined ? nothing : variant(DataType[type], named.value);
}
