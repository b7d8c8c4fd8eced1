import { type DescMessage, type Message, toJson } from "@bufbuild/protobuf";
import { isJsonObject, type Json, type JsonObject } from "../../platform/json.ts";

/**
 * The canonical text of a request: proto3 JSON, camelCase, defaults left out, keys in
 * order. Requests that mean the same have the same text, and so the same digest.
 */
export function canonicalJson(desc: DescMessage, message: Message): string {
  return JSON.stringify(inOrder(toJson(desc, message)));
}

function inOrder(json: Json): Json {
  if (Array.isArray(json)) return json.map(inOrder);
  if (!isJsonObject(json)) return json;
  // Without a prototype, so that a key "__proto__" is one like any other.
  const sorted: Record<string, Json> = Object.create(null);
  for (const key of inOrderKeys(json)) sorted[key] = inOrder(json[key] ?? null);
  return sorted;
}

/** Most are in order as they are, and sorting takes memory even then. */
function inOrderKeys(json: JsonObject): string[] {
  const keys = Object.keys(json);
  return keys.every((key, place) => place === 0 || (keys[place - 1] ?? "") < key) ? keys : keys.sort();
}
