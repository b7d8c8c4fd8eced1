import { fstatSync } from "node:fs";
import { type DestinationStream, pino } from "pino";
import type { Environment } from "../config/named-files.ts";
import { hideThese } from "../platform/crash/hide-secrets.ts";

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
 * Standard error, the destination of the log. If it is systemd's journal, each line begins with its priority,
 * so that `journalctl -p warning` finds the warnings (`man sd-daemon`). The journal removes that prefix.
 */
export function logDestination(env: Environment): DestinationStream {
  const stream = pino.destination({ fd: STANDARD_ERROR, sync: true });
  if (!isJournal(env)) return stream;
  return { write: (line) => stream.write(`<${priorityOf(line)}>${line}`) };
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
