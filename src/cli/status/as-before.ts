import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { fileProblem } from "../../config/named-files.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { malformed } from "../exit.ts";

const LOOK_MS = 200;

/**
 * Waits until everything is up that was up in an earlier status. Parts of the gateway itself may be degraded:
 * a start makes a busy disk slow. What has gone from the gateway meanwhile, or is new in it, does not count.
 *
 * @param ask the status now; null: no gateway answers
 * @returns what is not up, a sentence each, when the time is over; empty: all is up
 */
export async function waitAsBefore(
  before: JsonObject,
  ask: () => Promise<JsonObject | null>,
  withinMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const wanted = partsOf(before.links, before.parts).flatMap(([name, { state }]) =>
    state === "up" ? [name] : [],
  );
  const untilMs = performance.now() + withinMs;
  while (true) {
    const missing = missingIn(await ask(), wanted);
    if (missing.length === 0 || signal.aborted || performance.now() > untilMs) return missing;
    await wait(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

/** A status that `fleetgate status --json` has printed. */
export function readEarlierStatus(path: string): JsonObject {
  try {
    const status: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isJsonObject(status)) return status;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw malformed(`${path} ${fileProblem(error)}`);
  }
  throw malformed(`${path} is not what fleetgate status --json prints`);
}

function missingIn(now: JsonObject | null, wanted: readonly string[]): readonly string[] {
  if (now === null) return ["no gateway answers"];
  const own = partsOf(now.parts).map(([name]) => name);
  return partsOf(now.links, now.parts).flatMap(([name, { state, detail }]) => {
    const isWell = state === "up" || (state === "degraded" && own.includes(name));
    if (isWell || !wanted.includes(name)) return [];
    const reason = typeof detail === "string" && detail !== "" ? `: ${detail}` : "";
    return [`${name} is ${String(state)}, and was up${reason}`];
  });
}

function partsOf(...lists: readonly unknown[]): ReadonlyArray<readonly [name: string, part: JsonObject]> {
  return lists
    .flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []))
    .filter(isJsonObject)
    .flatMap((part) => (typeof part.name === "string" ? [[part.name, part] as const] : []));
}
