import type { Store } from "../../platform/store.ts";
import { RecordDamaged } from "../../platform/stores/record-seal.ts";
import type { Journal, JournalRecord, StoredHold, StoredLease, StoredRun } from "./journal.ts";

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

type Claims = "leases" | "writeLease" | "runs" | "writeRuns" | "holds" | "writeHold";

/**
 * What a store keeps beside commands: leases under `l/<robot>`, started conveyors under `r/<robot>`, holds
 * under `h/<robot and user>`. A robot and a user have one of each, and people depend on them: urgent.
 */
export function storedClaims(store: Store): Pick<Journal, Claims> {
  const leases = Array.from(store.range({ from: "l/", to: "l0" }), ({ value }) => asLease(value));
  const runs = new Map(
    Array.from(store.range({ from: "r/", to: "r0" }), ({ key, value }) => [key.slice(2), asRuns(value)]),
  );
  const holds = Array.from(store.range({ from: "h/", to: "h0" }), ({ value }) => asHold(value));
  holds.sort((a, b) => a.sinceMs - b.sinceMs);
  return {
    leases: () => leases,
    writeLease: (robotId, lease) => store.write([{ key: `l/${robotId}`, value: lease ?? undefined }], true),
    runs: () => runs,
    writeRuns: (robotId, list) => store.write([{ key: `r/${robotId}`, value: list ?? undefined }], true),
    holds: () => holds,
    writeHold: (hold, isHeld) =>
      store.write([{ key: holdKey(hold), value: isHeld ? hold : undefined }], true),
  };
}

function holdKey({ robotId, owner }: StoredHold): string {
  return `h/${JSON.stringify([robotId, owner.protocol, owner.name])}`;
}

function asHold(value: unknown): StoredHold {
  if (typeof value !== "object" || value === null || !("owner" in value) || !("sinceMs" in value)) {
    throw new Error("the journal has a record under h/ that is not a hold");
  }
  return value as StoredHold;
}

function asLease(value: unknown): StoredLease {
  if (typeof value !== "object" || value === null || !("station" in value) || !("owner" in value)) {
    throw new Error("the journal has a record under l/ that is not a lease");
  }
  return value as StoredLease;
}

function asRuns(value: unknown): readonly StoredRun[] {
  if (!Array.isArray(value)) {
    throw new Error("the journal has a record under r/ that is not a list of started conveyors");
  }
  return value;
}
