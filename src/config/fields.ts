import { z } from "zod";
import { isIdentifier, LONGEST_IDENTIFIER, LONGEST_IDENTIFIER_BYTES } from "../domain/foreign-text.ts";
import type { ConfigPath } from "./finding.ts";

/** The id of a gateway, of a cluster or of a member of it: a part of topics, nodes and keys. */
export const shortName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** The required content of a file that the configuration names. */
export type FileKind =
  | "apiKey"
  | "certificate"
  | "applicationCertificate"
  | "revocationList"
  | "privateKey"
  | "password"
  | "userPassword"
  | "drawing";

/** The text fields of the schema that name a file, with its required content. */
export const fileFields = z.registry<{ readonly kind: FileKind }>();

/**
 * The name of a file: absolute, relative to the configuration file, or `credential:NAME` for a credential
 * that systemd's LoadCredential gives to the service.
 */
export function file(kind: FileKind, description: string) {
  const schema = z.string().min(1).meta({ description });
  fileFields.add(schema, { kind });
  return schema;
}

/** What may become of a key without a restart. */
type Reloads = readonly ("added" | "changed" | "gone")[];

/** The parts of the schema that a reload changes. */
export const liveFields = z.registry<{ readonly reloads: Reloads }>();

/** Marks a key, or the entries of a record: a reload changes it with all below it. `reloads`: only so far. */
export function live<T extends z.ZodType>(schema: T, reloads: Reloads = ["added", "changed", "gone"]): T {
  liveFields.add(schema, { reloads });
  return schema;
}

/** A duration in whole milliseconds. */
export function milliseconds(least: number, most: number, usual: number, description: string) {
  return z.int().min(least).max(most).default(usual).describe(description);
}

/** A whole number within bounds. */
export function count(least: number, most: number, usual: number, description: string) {
  return z.int().min(least).max(most).default(usual).describe(description);
}

/** A switch. */
export function flag(usual: boolean, description: string) {
  return z.boolean().default(usual).describe(description);
}

/**
 * The address on which a server listens. The default is loopback, so that nothing is open to the plant by
 * accident.
 */
export function listen(usualPort: number) {
  return z
    .strictObject({
      host: z
        .string()
        .min(1)
        .default("127.0.0.1")
        .describe("Address to listen on; 0.0.0.0 for all of IPv4, :: for all."),
      port: z.int().min(0).max(65535).default(usualPort).describe("TCP port; 0 for any free one."),
    })
    .describe("Where the server listens.");
}

/**
 * `host:port`, with an IPv6 address in brackets.
 *
 * @param noScheme the message for a URL
 */
export function hostPort(
  description: string,
  noScheme = "write host:port, without a scheme: the connection is always TLS, a token must not travel without it",
) {
  return z
    .string()
    .refine((text) => !text.includes("://"), { error: noScheme, abort: true })
    .refine((text) => isHostPort(text), { error: "write host:port, as fleet.example.com:443" })
    .describe(description);
}

/**
 * A URL of one of these schemes, without user and password.
 *
 * @param words texts that are allowed instead of a URL
 * @param why why no other scheme works, as the end of a sentence
 */
export function url(
  schemes: readonly string[],
  description: string,
  words: readonly string[] = [],
  why = "",
) {
  const wanted = [...words, ...schemes.map((scheme) => `a URL that begins with ${scheme}//`)].join(" or ");
  return z
    .string()
    .refine((text) => words.includes(text) || hasScheme(text, schemes), {
      error: `write ${wanted}${why}`,
      abort: true,
    })
    .refine((text) => words.includes(text) || !hasUser(text), {
      error: "write no user or password in a URL: it would show up in logs; there are keys for them",
    })
    .describe(description);
}

/** A name that the service gives: of a robot, a location, a destination. */
export function identifier() {
  return z
    .string()
    .min(1, { abort: true })
    .max(LONGEST_IDENTIFIER, { abort: true })
    .refine(isIdentifier, {
      error: `use at most ${LONGEST_IDENTIFIER_BYTES} bytes of characters that can be shown`,
    });
}

/** A list of names, each once. */
export function names(description: string) {
  return z
    .array(identifier())
    .refine((list) => new Set(list).size === list.length, { error: "the same entry is there twice" })
    .describe(description);
}

/** Whether a text is `host:port`. */
function isHostPort(text: string): boolean {
  const match = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]/@]+):(\d{1,5})$/.exec(text);
  return match !== null && Number(match[1]) >= 1 && Number(match[1]) <= 65535;
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol);
}

function hasUser(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== "" || password !== "";
}

/** A value of the file beside the schema that it must fit. */
interface SchemaPlace {
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
interface Step {
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
