import type { Problem } from "../contracts/operation.ts";
import type { DescribedOperation } from "../contracts/operation-manual.ts";
import { jsonFault } from "../domain/refusals.ts";
import { isJsonObject, type Json, type JsonObject } from "../platform/json.ts";
import { readJson } from "../platform/strict-json.ts";

/** A valid request of the operation, or what is wrong with it. */
export type CallRequest =
  | { readonly ok: true; readonly request: JsonObject }
  /** `request` can still be sent, to ask the gateway about its id; null: the text could not be read. */
  | { readonly ok: false; readonly problem: Problem; readonly request: JsonObject | null };

/** Reads a request as typed, and checks it like the gateway, before anything is sent. */
export function readRequest(
  operation: DescribedOperation,
  text: string,
  robot: string | number | null,
): CallRequest {
  const json = parse(text);
  if (!json.ok) return json;
  const named = robot === null ? json : nameRobot(operation, json.request, robot);
  if (!named.ok) return named;
  const parsed = operation.parse(named.request);
  return parsed.ok ? named : { ok: false, problem: parsed.problem, request: named.request };
}

/**
 * Whether the operation names robots by number and `robot` is a name, so that its number must be looked up.
 */
export function needsNumber(operation: DescribedOperation, robot: string): boolean {
  return operation.robotField?.by === "number" && !/^\d+$/.test(robot);
}

function parse(text: string): CallRequest {
  const read = readJson(text);
  if (!read.ok) return { ok: false, problem: jsonFault(read), request: null };
  return isJsonObject(read.value) ? { ok: true, request: read.value } : refused("", "must be an object");
}

/** The request with the robot in the operation's field, spelt like the other fields. */
function nameRobot(operation: DescribedOperation, request: JsonObject, robot: string | number): CallRequest {
  const { robotField } = operation;
  if (robotField === null) return refused("", `--robot: ${operation.name} names no robot`);
  return setAt(request, robotField.path, robotField.by === "number" ? Number(robot) : String(robot), []);
}

function setAt(
  object: JsonObject,
  [first = "", ...rest]: readonly string[],
  value: string | number,
  above: readonly string[],
): CallRequest {
  const snake = first.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const key = Object.hasOwn(object, snake) ? snake : first;
  const path = [...above, key].join(".");
  const there: Json | undefined = Object.hasOwn(object, key) ? object[key] : undefined;
  if (rest.length === 0) {
    if (there !== undefined && there !== null && there !== value)
      return refused(path, `is ${JSON.stringify(there)}, and --robot says ${JSON.stringify(value)}`);
    return { ok: true, request: { ...object, [key]: value } };
  }
  if (there !== undefined && !isJsonObject(there)) return refused(path, "should be an object");
  const inner = setAt(there ?? {}, rest, value, [...above, key]);
  return inner.ok ? { ok: true, request: { ...object, [key]: inner.request } } : inner;
}

function refused(path: string, message: string): CallRequest {
  return { ok: false, problem: { path, message }, request: null };
}

/** The number of a robot in the answer of GetOnlineRobots; null: no robot in it has the name. */
export function numberOf(answer: unknown, robot: string): number | null {
  const robots = isJsonObject(answer) ? answer.robots : undefined;
  if (!Array.isArray(robots)) return null;
  const found: unknown = robots.find((each) => isJsonObject(each) && each.name === robot);
  const number = isJsonObject(found) ? Number(found.id) : Number.NaN;
  return Number.isInteger(number) ? number : null;
}
