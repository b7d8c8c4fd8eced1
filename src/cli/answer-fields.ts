import { isJsonObject, type JsonObject } from "../platform/json.ts";
import { plain } from "../platform/plain-text.ts";

/**
 * Fields of the gateway's answer, which may be of another version: a missing field, or one of another type,
 * is empty.
 */
export function textOf(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === "string" ? plain(value) : "";
}

/** 0 if it is missing. */
export function numberOf(object: JsonObject, name: string): number {
  const value = object[name];
  return typeof value === "number" ? value : 0;
}

export function objectOf(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

export function listOf(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textsOf(object: JsonObject, name: string): readonly string[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string").map(plain) : [];
}
