import { z } from "zod";
import { liveFields, type Reloads } from "./fields.ts";
import type { ConfigPath } from "./finding.ts";

/** A value of the file beside the schema that it must fit. */
export interface SchemaPlace {
  readonly path: ConfigPath;
  readonly schema: z.core.$ZodType;
  readonly value: unknown;
}

/** The schema inside `optional`, `default`, `nullable` and their like. */
export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  return layers(schema).at(-1) ?? schema;
}

function layers(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodPipe) return [schema, ...layers(schema.def.in)];
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodReadonly;
  return isWrapper ? [schema, ...layers(schema.def.innerType)] : [schema];
}

/** A key on the way to a value, or an entry of a record. */
export interface Step {
  readonly path: ConfigPath;
  /** What a reload changes of it by its own mark; null: it has none. */
  readonly reloads: Reloads | null;
  /** Whether it can be left out as a whole. */
  readonly isOptional: boolean;
}

/** The way to a value, from its section down, as far as the schema goes. */
export function* stepsTo(schema: z.core.$ZodType, path: ConfigPath): Generator<Step> {
  let parent = bare(schema);
  for (const [index, key] of path.entries()) {
    const child = childOf(parent, String(key));
    if (child === undefined) return;
    const isEntry = parent instanceof z.ZodRecord;
    parent = bare(child);
    // A record without entries is one that is left out.
    const isOptional = isEntry || (child instanceof z.ZodOptional && !(parent instanceof z.ZodRecord));
    yield { path: path.slice(0, index + 1), reloads: reloadsOf(child), isOptional };
  }
}

/** All keys that have a mark; `*` is an entry of a record. */
export function* liveKeys(
  schema: z.core.$ZodType,
  path: ConfigPath = [],
): Generator<{ readonly path: string; readonly reloads: Reloads }> {
  const reloads = reloadsOf(schema);
  if (reloads !== null) yield { path: path.join("."), reloads };
  const inner = bare(schema);
  if (inner instanceof z.ZodRecord) yield* liveKeys(inner.def.valueType, [...path, "*"]);
  if (inner instanceof z.ZodObject)
    for (const [key, child] of Object.entries(inner.def.shape)) yield* liveKeys(child, [...path, key]);
}

function reloadsOf(schema: z.core.$ZodType): Reloads | null {
  return layers(schema).flatMap((layer) => liveFields.get(layer) ?? [])[0]?.reloads ?? null;
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
