import type { Catalogue } from "../../contracts/operation.ts";
import type { Clock } from "../../platform/clock.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import type { EndedCommand, Journal, JournalRecord } from "../journal/journal.ts";
import { type AuditRecord, type AuditSink, commandRecord, shownRequest } from "./audit.ts";

/**
 * Reads the lines of the audit log of earlier runs, newest first, until `take` returns false. Resolves with
 * whether all lines were read that `take` would have taken.
 */
export type AuditLines = (take: (line: string) => boolean) => Promise<boolean>;

export interface MissingParts {
  readonly catalogue: Catalogue;
  readonly journal: Pick<Journal, "ended" | "find">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
  readonly audit: AuditSink;
  readonly auditLines: AuditLines;
}

/** How far before the newest line missing lines are searched. Lines reach the disk within a second. */
const SEARCHED_MS = 60_000;
/**
 * A line is written after the record of its command is on the disk: lines may be out of the order of times by
 * this much.
 */
const DISORDER_MS = 5_000;
/** More than a crash can lose. A journal that is much older than its audit log must not fill it. */
export const MOST_MADE_UP = 5_000;

/** What the newest lines of the audit log contain. */
interface AuditedCommands {
  readonly keys: ReadonlySet<string>;
  /** Commands that ended before this are not searched. Null: there is no line. */
  readonly fromMs: number | null;
  readonly newestMs: number;
}

/**
 * After a crash or a power cut, the journal may have outcomes that are not in the audit log. Adds their
 * lines, marked as recorded after a restart. Never rejects: a gateway whose audit log cannot be read starts,
 * and logs that.
 */
export async function recordMissing(parts: MissingParts): Promise<void> {
  const { journal, clock, log, audit, catalogue } = parts;
  try {
    const nowMs = clock.nowMs();
    const ended = journal.ended();
    if (ended.length === 0) return;
    const all = missingOf(ended, await readAudited(parts.auditLines), journal, nowMs);
    const missing = all.slice(-MOST_MADE_UP);
    for (const entry of missing) {
      const record = recordOf(catalogue, entry);
      if (record !== null) audit({ ...record, recorded_after_restart: new Date(nowMs).toISOString() });
    }
    if (missing.length === 0) return;
    const notRecorded = all.length - missing.length;
    log.warn(
      { recorded: missing.length, notRecorded },
      "commands of an earlier run had no line in the audit log",
    );
  } catch (error) {
    log.warn(
      { err: error },
      "whether commands of an earlier run lack their line in the audit log is not known",
    );
  }
}

async function readAudited(auditLines: AuditLines): Promise<AuditedCommands> {
  const keys = new Set<string>();
  let lastMs: number | null = null;
  let oldestMs = Number.POSITIVE_INFINITY;
  let newestMs = Number.NEGATIVE_INFINITY;
  const isAll = await auditLines((line) => {
    const record = readRecord(line);
    if (record === null) return true;
    const { atMs, key } = record;
    lastMs ??= atMs;
    keys.add(key);
    oldestMs = Math.min(oldestMs, atMs);
    newestMs = Math.max(newestMs, atMs);
    return atMs >= lastMs - SEARCHED_MS - DISORDER_MS;
  });
  if (lastMs === null) return { keys, fromMs: null, newestMs };
  const fromMs = lastMs - SEARCHED_MS;
  return { keys, newestMs, fromMs: isAll ? fromMs : Math.max(fromMs, oldestMs + DISORDER_MS) };
}

/**
 * Oldest first. If there is no line (the first ones were lost, or the files were removed), the journal's last
 * minute.
 */
function missingOf(
  ended: readonly EndedCommand[],
  { keys, fromMs, newestMs }: AuditedCommands,
  journal: Pick<Journal, "find">,
  nowMs: number,
): readonly JournalRecord[] {
  // A wall clock that was ahead for a while has left ends that are newer than all later lines.
  const untilMs = Math.max(nowMs, newestMs);
  const possible = ended.filter(({ finalAtMs }) => finalAtMs <= untilMs);
  const firstMs = fromMs ?? (possible.at(-1)?.finalAtMs ?? untilMs) - SEARCHED_MS;
  return possible
    .filter(({ finalAtMs }) => finalAtMs >= firstMs)
    .map(({ id }) => journal.find(id))
    .filter((entry) => typeof entry === "object")
    .filter((entry) => !keys.has(keyOfEntry(entry)));
}

function recordOf(catalogue: Catalogue, entry: JournalRecord): AuditRecord | null {
  const { command, outcome, robotId, acceptedAtMs, sentAtMs, finalAtMs } = entry;
  if (outcome === null || finalAtMs === null) return null;
  // A command that was refused before it was accepted has the time of its end for both.
  const isAccepted = sentAtMs !== null || acceptedAtMs !== finalAtMs;
  const times = { acceptedAtMs: isAccepted ? acceptedAtMs : null, sentAtMs, finalAtMs };
  return commandRecord(command, shownRequest(catalogue, command, outcome), robotId, times, outcome);
}

/** The time is part of the key: a refusal under a used identity has a line of its own. */
function keyOf(
  ...parts: readonly [protocol: unknown, user: unknown, requestId: unknown, code: unknown, atMs: unknown]
) {
  return JSON.stringify(parts);
}

function keyOfEntry({ command: { source, requestId }, outcome, finalAtMs }: JournalRecord): string {
  return keyOf(source.protocol, source.name, requestId, outcome?.code, finalAtMs);
}

/** Null for an incomplete line: a crash may have cut it off, or left zeros instead. */
function readRecord(line: string): { readonly atMs: number; readonly key: string } | null {
  const record = parsedJson(line);
  if (!isJsonObject(record) || typeof record.at !== "string") return null;
  const atMs = Date.parse(record.at);
  if (Number.isNaN(atMs)) return null;
  return { atMs, key: keyOf(record.protocol, record.user, record.request_id, record.code, atMs) };
}
