import { type Alarm, isAlarmCode, isOfBox } from "../domain/alarm.ts";
import { isAlarmSource } from "../domain/alarm-instance.ts";
import type { RobotId } from "../domain/robot.ts";
import { isJsonObject } from "../platform/json.ts";
import { type Codec, changesOf } from "../platform/stores/table-store.ts";
import type { WriteBehind } from "../platform/stores/write-behind.ts";
import type { AlarmRegistry, KeptAlarms, KeptChanges } from "./alarm-registry.ts";

/** Keeps the alarms over a restart. Never throws. */
export interface AlarmStore {
  load(): KeptAlarms;
  keep(changes: KeptChanges): void;
  /** Null: all is on the disk; otherwise, also if the disk has not answered in time, words for a user. */
  storeProblem(): Promise<string | null>;
  /**
   * Gives the registry what the leader of a cluster keeps, and then calls `changed`. Without a cluster it
   * does nothing.
   */
  follow(registry: Pick<AlarmRegistry, FollowedParts>, changed: () => void): void;
}

type FollowedParts = "followed" | "isOutOfService" | "putOutOfService" | "kept";

const NOT_STORED = "it is done, and not on the disk yet: a restart before that would not know it";
const LAST_ID = "last";

export function createAlarmStore(tables: WriteBehind): AlarmStore {
  const { shared = null } = tables;
  const alarms = tables.table("alarms", alarmCodec, "begin empty");
  /** Those that a box of a cluster has for itself. */
  const ofBox = tables.table("box-alarms", alarmCodec, "begin empty");
  const outOfService = tables.table("out-of-service", flagCodec, "begin empty");
  const ids = tables.table("alarm-ids", numberCodec, "begin empty");
  const isHere = (alarm: Alarm) => shared !== null && isOfBox(alarm);
  const isShared = (alarm: Alarm) => !isHere(alarm);
  /** A gateway that has run alone has those of its box there, too. */
  const before = new Map(alarms.entries());
  const loaded: KeptAlarms = {
    alarms: [
      ...(shared === null ? [] : Array.from(ofBox.entries(), ([, alarm]) => alarm)),
      ...[...before.values()].filter(isShared),
    ],
    outOfService: Array.from(outOfService.entries(), ([robotId]) => robotId),
    lastId: ids.get(LAST_ID) ?? 0,
  };
  /** What the tables have. */
  const kept = {
    alarms: before,
    ofBox: new Map<string, Alarm>(),
    outOfService: serviceContent(loaded.outOfService),
    lastId: loaded.lastId,
  };

  function keep({ alarms: changed, outOfService: service, lastId }: KeptChanges): void {
    const changedOf = (isOne: (alarm: Alarm) => boolean) =>
      [...changed].filter(([, alarm]) => alarm === null || isOne(alarm));
    tables.keep(changesOf(ofBox, kept.ofBox, changedOf(isHere)));
    if (shared?.isLeading() === false) return;
    tables.keep([
      ...changesOf(alarms, kept.alarms, changedOf(isShared)),
      ...changesOf(outOfService, kept.outOfService, service),
      ...(kept.lastId === lastId ? [] : [ids.put(LAST_ID, lastId)]),
    ]);
    kept.lastId = lastId;
  }

  return {
    load: () => loaded,
    keep,
    storeProblem: async () => ((await tables.flushed()) ? null : NOT_STORED),
    follow(registry, changed) {
      const { followed } = registry;
      const leads = (lead: () => void) => ({ settled: changed, lead });
      function putOutOfService(robotId: RobotId, isOut: boolean): void {
        if (isOut) kept.outOfService.set(robotId, true);
        else kept.outOfService.delete(robotId);
        if (registry.isOutOfService(robotId) !== isOut) registry.putOutOfService(robotId, isOut);
      }
      function take(id: string, value: unknown): void {
        const alarm = value === undefined ? null : alarmCodec.decode(value);
        if (alarm === null) kept.alarms.delete(id);
        else kept.alarms.set(id, alarm);
        followed.alarm(id, alarm);
      }

      shared?.follow("alarm-ids", {
        ...leads(() => {}),
        all(content) {
          for (const value of content.values()) noteLastId(value);
        },
        changed: (_key, value) => noteLastId(value),
      });
      shared?.follow("out-of-service", {
        ...leads(() => {}),
        all(content) {
          const gone = registry.kept().outOfService.filter((robotId) => !content.has(robotId));
          for (const robotId of gone) putOutOfService(robotId, false);
          for (const robotId of content.keys()) putOutOfService(robotId, true);
        },
        changed: (robotId, value) => putOutOfService(robotId, value !== undefined),
      });
      shared?.follow("alarms", {
        ...leads(() => {
          followed.lead(kept.lastId);
          const now = registry.kept();
          const standing = new Map(now.alarms.filter(isShared).map((alarm) => [alarm.id, alarm]));
          keep({
            alarms: changesBetween(kept.alarms, standing),
            outOfService: changesBetween(kept.outOfService, serviceContent(now.outOfService)),
            lastId: now.lastId,
          });
        }),
        all(content) {
          const known = registry.kept().alarms.filter(isShared);
          for (const { id } of known) if (!content.has(id)) take(id, undefined);
          for (const [id, value] of content) take(id, value);
        },
        changed: take,
      });
    },
  };

  function noteLastId(value: unknown): void {
    kept.lastId = Math.max(kept.lastId, numberCodec.decode(value) ?? 0);
  }
}

function serviceContent(outOfService: readonly RobotId[]): Map<RobotId, true> {
  return new Map(outOfService.map((robotId) => [robotId, true]));
}

/** The records by which one content becomes another; null: there is no such record any more. */
function changesBetween<V>(
  before: ReadonlyMap<string, V>,
  after: ReadonlyMap<string, V>,
): ReadonlyMap<string, V | null> {
  const gone = [...before.keys()].filter((key) => !after.has(key));
  return new Map<string, V | null>([...gone.map((key) => [key, null] as const), ...after]);
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
  const { id, code, source, severity, text, isActive, sinceMs, returnedAtMs, occurrences } = json;
  const { acknowledged, comment, revision, changedAtMs } = json;
  return (
    typeof id === "string" &&
    typeof code === "string" &&
    isAlarmCode(code) &&
    isAlarmSource(source) &&
    typeof severity === "number" &&
    typeof text === "string" &&
    typeof isActive === "boolean" &&
    typeof sinceMs === "number" &&
    (returnedAtMs === null || typeof returnedAtMs === "number") &&
    typeof occurrences === "number" &&
    (acknowledged === null || isByUser(acknowledged)) &&
    (comment === null || (isJsonObject(comment) && typeof comment.text === "string" && isByUser(comment))) &&
    typeof revision === "number" &&
    typeof changedAtMs === "number"
  );
}

/** Whether it says who did something, and when. */
function isByUser(json: unknown): boolean {
  if (!isJsonObject(json) || typeof json.atMs !== "number" || !isJsonObject(json.by)) return false;
  return typeof json.by.protocol === "string" && typeof json.by.name === "string";
}
