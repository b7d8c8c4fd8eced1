import { type Alarm, type AlarmSource, isAlarmCode } from "../domain/alarm.ts";
import { isJsonObject } from "../platform/json.ts";
import { createKeptFile, readNowIfThere } from "../platform/kept-file.ts";
import { describeError, type Log } from "../platform/log.ts";
import type { KeptAlarms } from "./alarm-book.ts";

/** Keeps the alarm book over a restart. Never throws. */
export interface AlarmMemory {
  load(): KeptAlarms;
  keep(alarms: KeptAlarms): void;
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>;
}

/** One JSON file. One that cannot be read counts as none; the log says so. */
export function createAlarmMemory(path: string, log: Log): AlarmMemory {
  const file = createKeptFile(path);
  let isFailing = false;
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
      file.write(`${JSON.stringify(alarms)}\n`).then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) log.warn({ path, cause: describeError(error) }, "the alarms are not kept");
          isFailing = true;
        },
      );
    },
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
