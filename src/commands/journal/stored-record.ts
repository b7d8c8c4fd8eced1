import { RecordDamaged } from "../../platform/stores/record-seal.ts";
import type { JournalRecord } from "./journal.ts";

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

function unpackRecord(id: string, stored: StoredRecord): JournalRecord {
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
export function readRecord(id: string, value: unknown): JournalRecord | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || !("digest" in value) || !("command" in value)) {
    throw new RecordDamaged("the journal holds something that is not a command");
  }
  return unpackRecord(id, value as StoredRecord);
}
