import { fstatSync } from "node:fs";
import { format } from "node:util";
import type { DestinationStream } from "pino";
import type { Environment } from "../config/environment.ts";
import type { Clock } from "../platform/clock.ts";
import { hideSecrets, hideThese } from "../platform/crash/hide-secrets.ts";
import { type Log, lineDestination } from "../platform/log.ts";
import { plain } from "../platform/plain-text.ts";

const levels = {
  debug: "debug",
  trace: "debug",
  log: "info",
  info: "info",
  warn: "warn",
  error: "warn",
} as const;
type Method = keyof typeof levels;

/** One line of a library is logged once in this time. */
const REPEAT_AFTER_MS = 10_000;
const MOST_PLACES = 100;
const LONGEST_TEXT = 300;
const FRAME = /^\s+at (?!.*node:).*?([^\s/\\(]+:\d+):\d+\)?$/m;
const NODE_OPCUA = /node-opcua/;

/**
 * Logs what libraries such as grpc-js and lmdb write to the console: a reader of the log expects only JSON.
 * The text of node-opcua stays out, because it dumps requests, which carry passwords.
 *
 * @param secrets texts that the log must not contain
 * @returns a function that restores the console
 */
export function logConsole(
  log: Log,
  clock: Pick<Clock, "monotonicMs">,
  secrets: readonly string[],
): () => void {
  const saidAtMs = new Map<string, number>();
  const before = { ...console };

  function say(method: Method, values: readonly unknown[]): void {
    const holder = { stack: "" };
    Error.captureStackTrace(holder, console[method]);
    const at = FRAME.exec(holder.stack)?.[1] ?? "not known";
    const nowMs = clock.monotonicMs();
    if (nowMs - (saidAtMs.get(at) ?? Number.NEGATIVE_INFINITY) < REPEAT_AFTER_MS) return;
    if (saidAtMs.size >= MOST_PLACES) saidAtMs.clear();
    saidAtMs.set(at, nowMs);
    const text = NODE_OPCUA.test(holder.stack) ? {} : { text: textOf(values, secrets) };
    log[levels[method]]({ library: at, ...text }, "a library writes to the console");
  }

  for (const method of Object.keys(levels) as Method[])
    console[method] = (...values: unknown[]) => say(method, values);
  return () => void Object.assign(console, before);
}

function textOf(values: readonly unknown[], secrets: readonly string[]): string {
  return hideSecrets(format(...values), secrets).slice(0, LONGEST_TEXT);
}

const STANDARD_ERROR = 2;
const LEVEL = /^\{"level":(\d+)/;
/** From pino's levels to those of syslog, highest first. */
const priorities = [
  [50, 3],
  [40, 4],
  [30, 6],
  [0, 7],
] as const;

/**
 * Standard error, the destination of the log. `text`: lines for people, not JSON. If it is systemd's journal,
 * each line begins with its priority, so that `journalctl -p warning` finds the warnings (`man sd-daemon`).
 * The journal removes that prefix.
 */
export function logDestination(env: Environment, format: "json" | "text"): DestinationStream {
  const stream = lineDestination();
  const lineOf = format === "text" ? textLine : (line: string) => line;
  if (!isJournal(env)) return { write: (line) => stream.write(lineOf(line)) };
  return { write: (line) => stream.write(`<${priorityOf(line)}>${lineOf(line)}`) };
}

/**
 * A line of the log for people: time, level, component and message, then the other fields as `name=value`.
 */
export function textLine(json: string): string {
  const { level, time, part = "gateway", msg = "", ...fields }: Record<string, unknown> = JSON.parse(json);
  const pairs = Object.entries(fields).map(([name, value]) => `  ${name}=${fieldText(value)}`);
  const head = [time, (LEVEL_NAMES[Number(level)] ?? "").padEnd(5), `${part}:`, msg].join(" ");
  return `${plain(`${head}${pairs.join("")}`)}\n`;
}

const LEVEL_NAMES: Readonly<Record<number, string>> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };

function fieldText(value: unknown): string {
  return typeof value === "string" && !/[\s"=]/.test(value) && value !== "" ? value : JSON.stringify(value);
}

/** The same without these secrets: an error of the service may repeat what was sent. */
export function withoutSecrets(
  destination: DestinationStream,
  secrets: readonly string[],
): DestinationStream {
  return { write: (line) => destination.write(hideThese(line, secrets)) };
}

/**
 * $JOURNAL_STREAM names the stream by device and inode. It stays set in a program whose log is redirected.
 */
function isJournal({ JOURNAL_STREAM: stream }: Environment): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(STANDARD_ERROR, { bigint: true });
  return stream === `${dev}:${ino}`;
}

function priorityOf(line: string): number {
  const level = Number(LEVEL.exec(line)?.[1] ?? 0);
  return priorities.find(([least]) => level >= least)?.[1] ?? 7;
}
