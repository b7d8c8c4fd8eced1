import { type Alarm, type AlarmSource, isAlarmCode } from "../domain/alarm.ts";
import type { Clock } from "../platform/clock.ts";
import { isJsonObject } from "../platform/json.ts";
import { createKeptFile, readNowIfThere } from "../platform/kept-file.ts";
import { describeError, type Log } from "../platform/log.ts";
import { noLaterThan } from "../platform/within.ts";
import type { KeptAlarms } from "./alarm-registry.ts";

/** Keeps the alarms over a restart. Never throws. */
export interface AlarmStore {
  load(): KeptAlarms;
  keep(alarms: KeptAlarms): void;
  /** Writes again what the disk has refused. Call it about once a second. */
  tick(): void;
  /** Null: all is on the disk; otherwise, also if the disk has not answered in time, words for a user. */
  storeProblem(): Promise<string | null>;
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
}

const RETRY_MS = 5_000;
/** After this time, callers get the answer that the disk has not answered. */
const ANSWER_MS = 1_000;
const NOT_STORED = "it is done, and not on the disk yet: a restart before that would not know it";

/** Keeps one JSON file. A file that cannot be read counts as missing, and is logged. */
export function createAlarmStore(path: string, clock: Clock, log: Log): AlarmStore {
  const file = createKeptFile(path);
  /** The text that the disk has refused, and when. */
  let refused: { readonly text: string; readonly atMs: number } | null = null;
  /** Resolves with whether the last write has succeeded. */
  let last: Promise<boolean> = Promise.resolve(true);

  async function write(text: string): Promise<boolean> {
    try {
      await file.write(text);
    } catch (error) {
      if (refused === null) log.warn({ path, cause: describeError(error) }, "the alarms are not kept");
      refused = { text, atMs: clock.monotonicMs() };
      return false;
    }
    if (refused !== null) log.info({ path }, "the alarms are kept again");
    refused = null;
    return true;
  }

  return {
    load() {
      try {
        return readAlarms(JSON.parse(readNowIfThere(path) ?? "{}"));
      } catch (error) {
        log.error(
          { path, cause: describeError(error) },
          "the alarms that stood cannot be read: what was acknowledged is shown again",
        );
        return readAlarms({});
      }
    },
    keep(alarms) {
      last = write(`${JSON.stringify(alarms)}\n`);
    },
    tick() {
      if (refused === null || clock.monotonicMs() - refused.atMs < RETRY_MS) return;
      refused = { ...refused, atMs: clock.monotonicMs() };
      last = write(refused.text);
    },
    storeProblem: async () => ((await noLaterThan(clock, ANSWER_MS, last, false)) ? null : NOT_STORED),
    settled: file.settled,
  };
}

function readAlarms(json: unknown): KeptAlarms {
  if (!isJsonObject(json)) throw new Error("it is no object");
  const { alarms, outOfService, lastId } = json;
  return {
    alarms: listOf(alarms).filter(isAlarm),
    outOfService: listOf(outOfService).filter((robotId) => typeof robotId === "string"),
    lastId: typeof lastId === "number" && Number.isSafeInteger(lastId) ? lastId : 0,
  };
}

function listOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : [];
}

/** Whether it is what `keep` writes. */
function isAlarm(json: unknown): json is Alarm {
  if (!isJsonObject(json)) return false;
  const { id, code, source, severity, text, isActive, sinceMs, returnedAtMs, occurrences, acknowledged } =
    json;
  return (
    typeof id === "string" &&
    typeof code === "string" &&
    isAlarmCode(code) &&
    isSource(source) &&
    typeof severity === "number" &&
    typeof text === "string" &&
    typeof isActive === "boolean" &&
    typeof sinceMs === "number" &&
    (returnedAtMs === null || typeof returnedAtMs === "number") &&
    typeof occurrences === "number" &&
    (acknowledged === null || isAcknowledgement(acknowledged))
  );
}

function isSource(json: unknown): json is AlarmSource {
  if (!isJsonObject(json)) return false;
  if (json.kind === "robot") return typeof json.robotId === "string";
  return json.kind === "gateway" || (json.kind === "station" && typeof json.station === "string");
}

function isAcknowledgement(json: unknown): boolean {
  if (!isJsonObject(json) || typeof json.atMs !== "number" || !isJsonObject(json.by)) return false;
  return typeof json.by.protocol === "string" && typeof json.by.name === "string";
}
