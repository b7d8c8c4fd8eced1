import { type Alarm, type AlarmSource, isAlarmCode } from "../domain/alarm.ts";
import { isJsonObject } from "../platform/json.ts";
import { type Codec, differences } from "../platform/stores/table-store.ts";
import type { WriteBehind } from "../platform/stores/write-behind.ts";
import type { KeptAlarms } from "./alarm-registry.ts";

/** Keeps the alarms over a restart. Never throws. */
export interface AlarmStore {
  load(): KeptAlarms;
  keep(alarms: KeptAlarms): void;
  /** Null: all is on the disk; otherwise, also if the disk has not answered in time, words for a user. */
  storeProblem(): Promise<string | null>;
}

const NOT_STORED = "it is done, and not on the disk yet: a restart before that would not know it";
const LAST_ID = "last";

export function createAlarmStore(tables: WriteBehind): AlarmStore {
  const alarms = tables.table("alarms", alarmCodec, "begin empty");
  const outOfService = tables.table("out-of-service", flagCodec, "begin empty");
  const ids = tables.table("alarm-ids", numberCodec, "begin empty");
  let kept: KeptAlarms = {
    alarms: Array.from(alarms.entries(), ([, alarm]) => alarm),
    outOfService: Array.from(outOfService.entries(), ([robotId]) => robotId),
    lastId: ids.get(LAST_ID) ?? 0,
  };
  return {
    load: () => kept,
    keep(now) {
      tables.keep([
        ...differences(alarms, byId(kept), byId(now)),
        ...differences(outOfService, flags(kept), flags(now)),
        ...(kept.lastId === now.lastId ? [] : [ids.put(LAST_ID, now.lastId)]),
      ]);
      kept = now;
    },
    storeProblem: async () => ((await tables.flushed()) ? null : NOT_STORED),
  };
}

function byId({ alarms }: KeptAlarms): ReadonlyMap<string, Alarm> {
  return new Map(alarms.map((alarm) => [alarm.id, alarm]));
}

function flags({ outOfService }: KeptAlarms): ReadonlyMap<string, true> {
  return new Map(outOfService.map((robotId) => [robotId, true]));
}

const alarmCodec: Codec<Alarm> = {
  encode: (alarm) => alarm,
  decode: (json) => (isAlarm(json) ? json : null),
};

const flagCodec: Codec<true> = { encode: () => true, decode: (json) => (json === true ? true : null) };

const numberCodec: Codec<number> = {
  encode: (number) => number,
  decode: (json) => (typeof json === "number" && Number.isSafeInteger(json) ? json : null),
};

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
