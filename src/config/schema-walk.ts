import { z } from "zod";
import type { ConfigPath } from "./problem.ts";

/** A value of the file beside the schema that it must fit. */
export interface SchemaPlace {
  readonly path: ConfigPath;
  readonly schema: z.core.$ZodType;
  readonly value: unknown;
}

/** The schema inside `optional`, `default`, `nullable` and their like. */
export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodPipe) inner = inner.def.in;
    else if (
      inner instanceof z.ZodOptional ||
      inner instanceof z.ZodDefault ||
      inner instanceof z.ZodPrefault ||
      inner instanceof z.ZodNullable ||
      inner instanceof z.ZodReadonly
    )
      inner = inner.def.innerType;
    else return inner;
  }
}

/** Every value that has a schema, from the root down, valid or not. */
export function* places(
  schema: z.core.$ZodType,
  value: unknown,
  path: ConfigPath = [],
): Generator<SchemaPlace> {
  const inner = bare(schema);
  yield { path, schema: inner, value };
  if (value === null || typeof value !== "object") return;
  if (inner instanceof z.ZodUnion) {
    for (const option of inner.def.options) yield* places(option, value, path);
    return;
  }
  for (const [key, child] of Object.entries(value)) {
    const childSchema = childOf(inner, key);
    if (childSchema === undefined) continue;
    yield* places(childSchema, child, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** The keys that an object at `path` may have; empty if the schema has no object there. */
export function knownKeys(schema: z.core.$ZodType, path: ConfigPath): readonly string[] {
  const inner = bare(schema);
  if (inner instanceof z.ZodUnion) return inner.def.options.flatMap((option) => knownKeys(option, path));
  const [first, ...rest] = path;
  if (first === undefined) return inner instanceof z.ZodObject ? Object.keys(inner.def.shape) : [];
  const child = childOf(inner, String(first));
  return child === undefined ? [] : knownKeys(child, rest);
}

function childOf(schema: z.core.$ZodType, key: string): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject)
    return Object.hasOwn(schema.def.shape, key) ? schema.def.shape[key] : undefined;
  if (schema instanceof z.ZodArray) return schema.def.element;
  if (schema instanceof z.ZodRecord) return schema.def.valueType;
  return undefined;
}
