import { isJsonObject } from "../../platform/json.ts";

/** A list in an answer, by its snake_case name. Throws when it is not there: that is no evidence. */
export function listIn(answer: unknown, name: string): readonly unknown[] {
  const list = isJsonObject(answer) ? answer[name] : undefined;
  if (!Array.isArray(list)) throw new Error(`the answer has no list ${name}`);
  return list;
}

/** A value in an answer by its path; undefined when it is not there. */
export function valueIn(answer: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), answer);
}
