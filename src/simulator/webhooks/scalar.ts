import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { shortestFloat } from "../../platform/float.ts";

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
