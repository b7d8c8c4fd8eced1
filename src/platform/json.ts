import { hash } from "node:crypto";

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Whether a parsed value is an object and not a list or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a text; undefined: it is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Enough to be unique, and short in an event. */
const CHARACTERS = 22;

/** A hash of the parts as a name: the same in every run. */
export function contentId(...parts: ReadonlyArray<string | number | null>): string {
  return hash("sha256", JSON.stringify(parts), "base64url").slice(0, CHARACTERS);
}
