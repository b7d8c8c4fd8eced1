import type { RecordEntry } from "../../src/simulator/world/record.ts";
import { contradictionOf, type Sent, traceOf } from "./story.ts";

/** What a sender was told of a command, and by which life of the gateway. */
export interface Told {
  readonly life: number;
  readonly outcome: string;
  readonly code: string;
  readonly message: string;
}

/** A command, with all that its sender was told. */
export interface Asked extends Sent {
  readonly protocol: "mqtt" | "web" | "opcua";
  /** A stop leaves without a disk too, and may be sent again. */
  readonly isStop: boolean;
  readonly told: Told[];
}

/**
 * Codes that say that the disk does not have the outcome, or that it is not known now: after a crash the same
 * id may be taken as new.
 */
const UNRECORDED_CODES: ReadonlySet<string> = new Set(["JOURNAL_FAILED", "SHUTTING_DOWN"]);

export function isUnrecorded({ code, message }: Pick<Told, "code" | "message">): boolean {
  return UNRECORDED_CODES.has(code) || message.includes("not on the disk yet");
}

/** What of the told does not hold against the service's record, and what of it changed. */
export function brokenPromises(asked: Asked, record: readonly RecordEntry[]): readonly string[] {
  const trace = traceOf(asked, record);
  const what = `${asked.id} ${asked.operation}`;
  const broken: string[] = [];
  if (trace.sendings > 1 && !asked.isStop) broken.push(`${what} was sent ${trace.sendings} times`);
  for (const [index, told] of asked.told.entries()) {
    const contradiction = mayBeTakenAsNew(told) ? null : contradictionOf(told.outcome, trace);
    if (contradiction !== null) broken.push(`${what} was told ${textOf(told)}, and ${contradiction}`);
    const before = asked.told.slice(0, index).find((other) => binds(other, told));
    if (before !== undefined && !isSame(before, told))
      broken.push(`${what} was told ${textOf(before)}, then ${textOf(told)}`);
  }
  return [...new Set(broken)];
}

/** What the broker was given of the end of a command. */
export interface Ended {
  readonly eventId: string;
  readonly outcome: string;
  readonly code: string;
  readonly message: string;
}

/**
 * A command ends once, as it was told. One whose outcome the disk did not take says so, in its reply or its
 * event, and may be taken as new.
 */
export function brokenEvents({ id, operation, told }: Asked, ended: readonly Ended[]): readonly string[] {
  if ([...told, ...ended].some(isUnrecorded)) return [];
  const what = `${id} ${operation}`;
  const eventIds = new Set(ended.map(({ eventId }) => eventId));
  const broken = eventIds.size < 2 ? [] : [`${what} has ended as ${[...eventIds].join(" and as ")}`];
  for (const each of told) {
    const other = ended.find((event) => !isSame(event, each));
    if (other === undefined) continue;
    broken.push(`${what} was told ${textOf(each)}, and its event says ${other.outcome} ${other.code}`);
  }
  return broken;
}

/** It was not sent, and a crash makes the gateway forget that: a later life may send it. */
function mayBeTakenAsNew(told: Told): boolean {
  return isUnrecorded(told) && (told.outcome === "refused" || told.outcome === "expired");
}

/** Whether an outcome must be the same when its command is asked for later. */
function binds(told: Told, later: Told): boolean {
  // A gateway that ends cannot read its records any more.
  if (told.code === "SHUTTING_DOWN" || later.code === "SHUTTING_DOWN") return false;
  return told.life === later.life || !isUnrecorded(told);
}

type Ending = Pick<Told, "outcome" | "code">;

function isSame(one: Ending, other: Ending): boolean {
  return one.outcome === other.outcome && one.code === other.code;
}

function textOf({ life, outcome, code, message }: Told): string {
  return `${outcome} ${code} (${message}) by life ${life}`;
}

/** The service's record, by what only one command's request holds. */
export function createRecordIndex(tokenOf: (request: unknown) => string | number | null) {
  const byToken = new Map<string | number, RecordEntry[]>();
  const tokens = new Map<number, string | number>();
  let lastSeq = 0;

  function tokenOfEntry({ fact }: RecordEntry): string | number | null | undefined {
    if (fact.what === "received") {
      const token = tokenOf(fact.request);
      if (token !== null) tokens.set(fact.callId, token);
      return token;
    }
    if (fact.what === "answered") return tokens.get(fact.callId);
    return "by" in fact ? tokens.get(Number(fact.by.replace("call:", ""))) : null;
  }

  return {
    add(entries: readonly RecordEntry[]): void {
      for (const entry of entries) {
        lastSeq = entry.seq;
        const token = tokenOfEntry(entry);
        if (token === null || token === undefined) continue;
        const own = byToken.get(token) ?? [];
        own.push(entry);
        byToken.set(token, own);
      }
    },
    lastSeq: () => lastSeq,
    of: (token: string | number): readonly RecordEntry[] => byToken.get(token) ?? [],
  };
}
