import type { Source } from "../../domain/command.ts";
import type { RobotId } from "../../domain/robot.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import type { Codec, Table, TableChange, TableStore } from "../../platform/stores/table-store.ts";
import {
  holdKey,
  type Journal,
  type JournalRecord,
  type StoredHold,
  type StoredLease,
  type StoredRun,
} from "./journal.ts";

/** A record in the store: without its id, which is the key, without nulls, and with no text twice. */
export type StoredRecord = Pick<JournalRecord, "digest" | "command" | "queue" | "acceptedAtMs"> & {
  readonly [Key in keyof JournalRecord]?: JournalRecord[Key] | undefined;
} & {
  /** The running time when it was written. */
  readonly runningMs: number;
};

export function packRecord(record: JournalRecord, runningMs: number): StoredRecord {
  const { command, sentJson, robotId, sentAtMs, finalAtMs, baseline, outcome } = record;
  return {
    digest: record.digest,
    command,
    queue: record.queue,
    robotId: robotId === command.robotId ? undefined : robotId,
    acceptedAtMs: record.acceptedAtMs,
    sentAtMs: sentAtMs ?? undefined,
    finalAtMs: finalAtMs ?? undefined,
    sentJson: sentJson === command.requestJson ? undefined : sentJson,
    baseline: baseline ?? undefined,
    outcome: outcome ?? undefined,
    missionIds: record.missionIds,
    runningMs,
  };
}

export function unpackRecord(id: string, stored: StoredRecord): JournalRecord {
  const { command, robotId = command.robotId, sentJson = command.requestJson, missionIds } = stored;
  return {
    id,
    digest: stored.digest,
    command,
    queue: stored.queue,
    robotId,
    acceptedAtMs: stored.acceptedAtMs,
    sentAtMs: stored.sentAtMs ?? null,
    finalAtMs: stored.finalAtMs ?? null,
    sentJson,
    baseline: stored.baseline ?? null,
    outcome: stored.outcome ?? null,
    ...(missionIds === undefined ? {} : { missionIds }),
  };
}

/** Only the journal writes its store, so the outline is enough to recognise a record. */
export const recordCodec: Codec<StoredRecord> = { ...outline("digest", "command"), refusesTexts: true };
const holdCodec: Codec<StoredHold> = outline("owner", "sinceMs");
const leaseCodec: Codec<StoredLease> = outline("station", "owner");
const identityCodec: Codec<string> = {
  refusesTexts: true,
  encode: (id) => id,
  decode: (json) => (typeof json === "string" ? json : null),
};

/** The records of commands by their identities, and the identities by a number. */
export interface JournalTables {
  readonly commands: Table<StoredRecord>;
  readonly order: Table<string>;
}

export function openJournalTables(store: TableStore): JournalTables {
  return {
    commands: store.table("commands", recordCodec, "confirm"),
    order: store.table("order", identityCodec, "confirm"),
  };
}

const SEQUENCE_DIGITS = 15;

export function orderKey(number: number): string {
  return String(number).padStart(SEQUENCE_DIGITS, "0");
}

/** Otherwise something that is no gateway has written it. */
export function isOrderKey(key: string): boolean {
  return orderKey(Number(key)) === key;
}

/** Both are written, and removed, in one step. Otherwise the record would count as never sent. */
export function lacksRecord(): Error {
  return new Error("the journal's order names a record that it does not have");
}

/** A start, and how far it is. `ended`: it had been sent. `robotId` null: the service picks one. */
export interface StartStage {
  readonly robotId: RobotId | null;
  readonly stage: "accepted" | "sent" | "ended";
}

/** What a change of the journal says of a start; null: it is about none, or about one that was never sent. */
export function startIn({ table, value }: TableChange): StartStage | null {
  const stored = table === "commands" ? recordCodec.decode(value) : null;
  if (stored === null || stored.command.effect !== "moves") return null;
  const { command, robotId = command.robotId, sentAtMs, outcome } = stored;
  if (outcome === undefined) return { robotId, stage: sentAtMs === undefined ? "accepted" : "sent" };
  return sentAtMs === undefined ? null : { robotId, stage: "ended" };
}

/** What a change of the journal says of a hold; null: nothing. */
export function holdIn({ table, key, value }: TableChange): { hold: StoredHold; isHeld: boolean } | null {
  if (table !== "holds") return null;
  const hold = holdCodec.decode(value);
  if (hold !== null) return { hold, isHeld: true };
  const parts = parsedJson(key);
  if (!Array.isArray(parts)) return null;
  const [robotId, protocol, name] = parts as [RobotId | null, Source["protocol"], string];
  // A newer version may write other records: its hold counts all the same.
  return { hold: { robotId, owner: { protocol, name }, sinceMs: 0 }, isHeld: isJsonObject(value) };
}

type Claims = "leases" | "writeLease" | "runs" | "writeRuns" | "holds" | "writeHold";

/**
 * What the journal keeps beside commands. A robot and a user have one record each, and people depend on them:
 * their writes are urgent.
 */
export function storedClaims(store: TableStore): Pick<Journal, Claims> {
  const leaseTable = store.table("leases", leaseCodec, "confirm");
  const runTable = store.table("runs", listCodec, "confirm");
  const holdTable = store.table("holds", holdCodec, "confirm");
  const leases = Array.from(leaseTable.entries(), ([, lease]) => lease);
  const runs = new Map(runTable.entries());
  const holds = Array.from(holdTable.entries(), ([, hold]) => hold);
  holds.sort((a, b) => a.sinceMs - b.sinceMs);
  return {
    leases: () => leases,
    writeLease: (robotId, lease) =>
      store.write([lease === null ? leaseTable.remove(robotId) : leaseTable.put(robotId, lease)], true),
    runs: () => runs,
    writeRuns: (robotId, list) =>
      store.write([list === null ? runTable.remove(robotId) : runTable.put(robotId, list)], true),
    holds: () => holds,
    writeHold: (hold, isHeld) => {
      const key = holdKey(hold);
      return store.write([isHeld ? holdTable.put(key, hold) : holdTable.remove(key)], true);
    },
  };
}

/** Recognises an object by the names of some members. */
function outline<V extends object>(...names: readonly (keyof V & string)[]): Codec<V> {
  const isOne = (json: unknown): json is V =>
    typeof json === "object" && json !== null && names.every((name) => name in json);
  return { encode: (value) => value, decode: (json) => (isOne(json) ? json : null) };
}

const listCodec: Codec<readonly StoredRun[]> = {
  encode: (list) => list,
  decode: (json) => (Array.isArray(json) ? json : null),
};

const codecs: Readonly<Record<string, Pick<Codec<unknown>, "decode">>> = {
  commands: recordCodec,
  order: identityCodec,
  leases: leaseCodec,
  runs: listCodec,
  holds: holdCodec,
};

/** Whether this program knows what a record of the journal means; true for other tables. */
export function canReadRecord({ table, value }: TableChange): boolean {
  const codec = codecs[table];
  return codec === undefined || codec.decode(value) !== null;
}
