import type {
  CommandLog,
  CommandProgress,
  LoggedCommand,
  ReachedCommand,
} from "../../contracts/command-log.ts";
import { commandId, type Source } from "../../domain/command.ts";
import type { ErrorName } from "../../domain/errors.ts";
import type { OutcomeName } from "../../domain/outcome.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import type { AuditRecord, AuditSink } from "../audit/audit.ts";
import type { AuditLines } from "../audit/missing-records.ts";

/** The log of commands, with its inputs. */
export interface KeptCommandLog extends CommandLog, CommandProgress {
  /** The same sink; the log also takes its records of commands. */
  audited(sink: AuditSink): AuditSink;
  /** Reads what earlier runs have left in the audit log. Await it before the first command. Never rejects. */
  start(): Promise<void>;
}

export interface CommandLogParts {
  readonly auditLines: AuditLines;
  readonly log: Log;
  readonly most?: number;
}

/** Commands in hand are kept beyond it. */
const MOST_LOGGED = 1_000;

/**
 * Keeps the newest commands in memory. The audit log on the disk has all of them; each outcome comes from it,
 * so the two never differ.
 */
export function createCommandLog({ auditLines, log, most = MOST_LOGGED }: CommandLogParts): KeptCommandLog {
  /** By number, oldest first. */
  const commands = new Map<number, LoggedCommand>();
  /** The numbers of commands that are not final, by identity. */
  const inHand = new Map<string, number>();
  const followers = new Set<(command: LoggedCommand) => void>();
  let next = 1;

  function put(command: LoggedCommand): void {
    commands.set(command.number, command);
    for (const look of followers) look(command);
    if (commands.size <= most) return;
    for (const [number, { finalAtMs }] of commands) {
      if (finalAtMs === null) continue;
      commands.delete(number);
      return;
    }
  }

  function take(record: AuditRecord): void {
    const ended = loggedRecord(record);
    if (ended === null) return;
    const id = idOf(ended.source, ended.requestId);
    // A refusal under an identity that is in hand has an entry of its own: the other command goes on.
    const isOwn = record.request === null || record.code === "IDENTITY_REUSED";
    const number = isOwn ? undefined : inHand.get(id);
    if (number === undefined) {
      put({ ...ended, number: next++ });
      return;
    }
    inHand.delete(id);
    // A read has no journal record, so the audit log lacks its times.
    const before = commands.get(number);
    const isRead = ended.acceptedAtMs === null;
    const times = isRead
      ? { acceptedAtMs: before?.acceptedAtMs ?? null, sentAtMs: before?.sentAtMs ?? null }
      : {};
    put({ ...ended, ...times, number });
  }

  return {
    newest: () => [...commands.values()].sort((a, b) => b.number - a.number),
    follow(look) {
      followers.add(look);
      return () => void followers.delete(look);
    },
    reached(command: ReachedCommand) {
      const id = idOf(command.source, command.requestId);
      const known = inHand.get(id);
      const number = known ?? next++;
      inHand.set(id, number);
      const acceptedAtMs = command.acceptedAtMs ?? commands.get(number)?.acceptedAtMs ?? null;
      put({ ...command, acceptedAtMs, number, finalAtMs: null, ending: null, foundLater: null });
    },
    foundLater({ source, requestId }, text) {
      const id = idOf(source, requestId);
      const found = [...commands.values()].findLast(
        (command) => command.ending?.outcome === "unknown" && idOf(command.source, command.requestId) === id,
      );
      if (found !== undefined) put({ ...found, foundLater: text });
    },
    audited: (sink) => (record) => {
      sink(record);
      take(record);
    },
    async start() {
      try {
        for (const record of await newestRecords(auditLines, most)) take(record);
      } catch (error) {
        log.warn({ err: error }, "the audit log cannot be read: the log of commands begins empty");
      }
    },
  };
}

function idOf(source: Source, requestId: string | null): string {
  return commandId({ source, requestId: requestId ?? "" });
}

/** The newest records of commands, oldest first. */
async function newestRecords(auditLines: AuditLines, most: number): Promise<readonly AuditRecord[]> {
  const records: AuditRecord[] = [];
  await auditLines((line) => {
    const record = recordOf(line);
    if (record !== null && loggedRecord(record) !== null) records.push(record);
    return records.length < most;
  });
  return records.reverse();
}

/** Null for an incomplete line: a crash may have cut it off. */
function recordOf(line: string): AuditRecord | null {
  return (parsedJson(line) as AuditRecord | undefined) ?? null;
}

/** The records that an act leaves when it has changed something; they have a request then. */
const ofActs: ReadonlySet<AuditRecord["event"]> = new Set(["hold", "lease", "alarm", "counters"]);

/**
 * A command or an act from a record of the audit log; null for a record of anything else, or one that this
 * version cannot read. The names of outcomes and codes are passed on as they are.
 */
function loggedRecord(record: AuditRecord): Omit<LoggedCommand, "number"> | null {
  const isAct = ofActs.has(record.event) && typeof record.request === "string";
  if (record.event !== "command" && !isAct) return null;
  const source = sourceOf(record);
  const finalAtMs = timeOf(record.at);
  const { outcome, operation } = record;
  // An alarm has a code of its own.
  const code = isAct ? "OK" : record.code;
  if (source === null || finalAtMs === null || typeof operation !== "string") return null;
  if (typeof outcome !== "string" || typeof code !== "string") return null;
  return {
    source,
    requestId: textOf(record.request_id),
    operation,
    robotId: textOf(record.robot_id),
    requestJson: textOf(record.request) || null,
    onBehalfOf: isJsonObject(record.on_behalf_of) ? sourceOf(record.on_behalf_of) : null,
    acceptedAtMs: timeOf(record.accepted_at),
    sentAtMs: timeOf(record.sent_at),
    finalAtMs,
    ending: {
      outcome: outcome as OutcomeName,
      code: code as ErrorName,
      message: textOf(record.message) ?? "",
      missionId: textOf(record.mission_id),
      evidence: textOf(record.evidence),
    },
    foundLater: null,
  };
}

function sourceOf({ protocol, user }: { readonly [field: string]: unknown }): Source | null {
  if (typeof protocol !== "string" || typeof user !== "string") return null;
  return { protocol: protocol as Source["protocol"], name: user };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function timeOf(value: unknown): number | null {
  const atMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
