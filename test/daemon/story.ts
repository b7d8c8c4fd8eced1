import type { RecordEntry } from "../../src/simulator/world/record.ts";
import type { Reply } from "../e2e/mqtt-ear.ts";

/** A command as its sender keeps it. */
export interface Sent {
  readonly id: string;
  readonly operation: string;
  readonly request: object;
  /** What only this command's request holds. */
  readonly token: string | number;
}

/** What a sender was told of a command, and what of it does not hold against the service's record. */
export interface Story {
  readonly outcome: string;
  readonly broken: readonly string[];
}

export function storyOf(sent: Sent, replies: readonly Reply[], record: readonly RecordEntry[]): Story {
  const trace = traceOf(sent, record);
  const outcomes = [...new Set(replies.map(({ outcome }) => outcome))];
  const [outcome = "none"] = outcomes;
  const what = `${sent.id} ${sent.operation}`;
  const broken: string[] = [];
  if (outcomes.length !== 1) broken.push(`${what} was told ${outcomes.join(" and ") || "nothing"}`);
  if (trace.sendings > 1) broken.push(`${what} was sent ${trace.sendings} times`);
  const contradiction = contradictionOf(outcome, trace);
  if (contradiction !== null)
    broken.push(`${what} was told ${outcome} (${replies[0]?.message}), and ${contradiction}`);
  return { outcome, broken };
}

/** What the service's record has of one command. */
export interface Trace {
  readonly sendings: number;
  /** What the service answered. */
  readonly codes: readonly string[];
  readonly hadEffect: boolean;
}

export function traceOf(sent: Sent, record: readonly RecordEntry[]): Trace {
  const calls = new Set<number>();
  const codes: string[] = [];
  let hadEffect = false;
  for (const { fact } of record) {
    if (fact.what === "received" && fact.operation === sent.operation && holds(fact.request, sent.token)) {
      calls.add(fact.callId);
    } else if (fact.what === "answered" && calls.has(fact.callId)) codes.push(fact.code);
    else if ("by" in fact && calls.has(Number(fact.by.replace("call:", "")))) hadEffect = true;
  }
  return { sendings: calls.size, codes, hadEffect };
}

/** What of an outcome does not hold against the service's record; null when nothing. */
export function contradictionOf(outcome: string, { sendings, codes, hadEffect }: Trace): string | null {
  switch (outcome) {
    case "succeeded":
      return codes.includes("OK") ? null : "the service never answered OK";
    case "probably_succeeded":
      return hadEffect ? null : "nothing happened";
    case "refused":
      return hadEffect ? "it had its effect" : null;
    case "expired":
      return sendings === 0 ? null : "it was sent";
    default:
      return null;
  }
}

/** Whether the service was given a request that holds this value. */
export function holdsAnywhere(record: readonly RecordEntry[], token: string | number): boolean {
  return record.some(({ fact }) => fact.what === "received" && holds(fact.request, token));
}

/** Whether a value somewhere in the JSON is the token. */
function holds(json: unknown, token: string | number): boolean {
  if (json === token) return true;
  return typeof json === "object" && json !== null && Object.values(json).some((each) => holds(each, token));
}
