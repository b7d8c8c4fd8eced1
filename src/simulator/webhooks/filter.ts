import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { type FieldFilter, FilterOperator } from "../../wire/fleet/v1/webhook_pb.js";
import { Refusal } from "../refusal.ts";
import { type Leaf, leafDefault, leafJson, leafOf, readField, wholeMs } from "./envelope.ts";

/** Whether an event's state passes a subscription's filter. */
export type Matcher = (state: object) => boolean;

const MOST_VALUES = 1_000;

/** Reads a filter (docs/internals/service.md, WHK-08 to WHK-18). Throws INVALID_ARGUMENT. */
export function readFilter(schema: DescMessage, filter: FieldFilter | undefined): Matcher {
  if (filter === undefined) return () => true;
  if (filter.operator !== FilterOperator.IN) throw invalid("operator: FILTER_OPERATOR_IN is the only one");
  if (filter.values.length === 0) throw invalid("values: at least one is required");
  if (filter.values.length > MOST_VALUES) throw invalid(`values: at most ${MOST_VALUES}`);
  if (filter.field === "robot_id") throw invalid("field: robot_id cannot be filtered; use the selector");
  const path = resolvePath(schema, filter.field);
  if (typeof path === "string") throw invalid(`field: ${path}`);
  const { leaf } = path;
  const wanted = new Set<unknown>(filter.values.map((value) => readValue(leaf, value)));
  return (state) => {
    const found = findAt(path, state);
    if (found === undefined) return false;
    const value = comparable(leaf, found.value);
    // An unset text does not equal the empty text.
    return (found.isSet || value !== "") && wanted.has(value);
  };
}

/** A filter's value in the form that `comparable` gives to an event's value. */
function readValue(leaf: Leaf, text: string): string | number | boolean {
  switch (leaf.kind) {
    case "enum":
      if (!leaf.type.values.some(({ name }) => name === text)) {
        throw invalid(`values: ${quote(text)} is no name of ${leaf.type.name}`);
      }
      return text;
    case "timestamp": {
      const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text)
        ? Date.parse(text)
        : NaN;
      if (Number.isNaN(atMs)) throw invalid(`values: ${quote(text)} is no ISO 8601 time`);
      return atMs;
    }
    case "scalar":
      return readScalar(leaf.type, text);
  }
}

function readScalar(type: ScalarType, text: string): string | number | boolean {
  switch (type) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      if (text !== "true" && text !== "false")
        throw invalid(`values: ${quote(text)} is neither true nor false`);
      return text === "true";
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text))
        throw invalid(`values: ${quote(text)} is no number`);
      return Number(text);
    default:
      return readInteger(type, text);
  }
}

function readInteger(type: ScalarType, text: string): number | string {
  const isLong = type === ScalarType.INT64;
  const bits = isLong ? 63n : 31n;
  if (!/^[+-]?\d{1,20}$/.test(text)) throw invalid(`values: ${quote(text)} is no integer`);
  const value = BigInt(text.replace("+", ""));
  if (value < -(1n << bits) || value >= 1n << bits) throw invalid(`values: ${quote(text)} is out of range`);
  // An int64 is compared as text, because a number could not hold it.
  return isLong ? value.toString() : Number(value);
}

function comparable(leaf: Leaf, value: unknown): unknown {
  if (leaf.kind === "timestamp") return wholeMs(value as Timestamp);
  if (typeof value === "bigint" || (leaf.kind === "scalar" && leaf.type === ScalarType.INT64))
    return String(value);
  return leafJson(leaf, value);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

function invalid(message: string): Refusal {
  return new Refusal("INVALID_ARGUMENT", `filter.${message}`);
}

/** One step of a path: a field, and the index of an element if it is a list. */
interface Step {
  readonly field: DescField;
  readonly index: number | undefined;
}

/** A path of an event's state that ends at a scalar. */
export interface FieldPath {
  readonly steps: readonly Step[];
  readonly leaf: Leaf;
}

/** The value that a path finds in an event. `isSet` is false for the default of a oneof's unset member. */
interface Found {
  readonly value: unknown;
  readonly isSet: boolean;
}

/**
 * Resolves a snake_case path that starts with `state` (docs/internals/service.md, WHK-09).
 * A string says, in one sentence, why it does not resolve.
 */
export function resolvePath(schema: DescMessage, path: string): FieldPath | string {
  const [root, ...names] = path.split(".");
  if (root !== "state" || names.length === 0) return `${path} does not start with "state."`;
  const steps: Step[] = [];
  let message: DescMessage | undefined = schema;
  let leaf: Leaf | undefined;
  while (names.length > 0) {
    const name = names.shift() ?? "";
    const field: DescField | undefined = message?.fields.find((candidate) => candidate.name === name);
    if (field === undefined) return `${path}: there is no field ${JSON.stringify(name)} there`;
    if (field.fieldKind === "map") return `${path}: a map cannot be reached into`;
    const index = field.fieldKind === "list" ? readIndex(names.shift()) : undefined;
    if (field.fieldKind === "list" && index === undefined)
      return `${path}: ${name} is a list and wants an index`;
    steps.push({ field, index });
    leaf = leafOf(field);
    message = leaf === undefined ? field.message : undefined;
  }
  return leaf === undefined ? `${path} names a whole message, not a scalar` : { steps, leaf };
}

/** The value at a path; undefined: the path leads into an unset message, or beyond a list. */
export function findAt({ steps, leaf }: FieldPath, state: object): Found | undefined {
  let at: unknown = state;
  let isSet = true;
  for (const { field, index } of steps) {
    if (typeof at !== "object" || at === null) return undefined;
    const { isMember, value } = readField(field, at);
    isSet = !isMember || value !== undefined;
    at = index === undefined ? value : (value as readonly unknown[])[index];
    if (at === undefined && index !== undefined) return undefined;
  }
  const value = at ?? leafDefault(leaf);
  return value === undefined ? undefined : { value, isSet };
}

function readIndex(segment: string | undefined): number | undefined {
  return segment !== undefined && /^(0|[1-9]\d{0,8})$/.test(segment) ? Number(segment) : undefined;
}
