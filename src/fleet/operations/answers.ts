import { isJsonObject } from "../../platform/json.ts";

/** A list in an answer, by its snake_case name. Throws if it is missing: that is no evidence. */
export function listIn(answer: unknown, name: string): readonly unknown[] {
  const list = isJsonObject(answer) ? answer[name] : undefined;
  if (!Array.isArray(list)) throw new Error(`the answer has no list ${name}`);
  return list;
}

/** A value in an answer by its path; undefined: it is missing. */
export function valueIn(answer: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), answer);
}
