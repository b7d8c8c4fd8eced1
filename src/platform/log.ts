import { type DestinationStream, pino } from "pino";

/** Fields of a log line. Never a token, a secret or a whole request. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured log: one line a transition, not a line a repetition. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** The same log with fields of its own on every line. */
  child(fields: LogFields): Log;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** JSON lines on `destination` (standard error unless told), an error's causes included. */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError, cause: describeError },
    },
    destination ?? pino.destination({ fd: 2, sync: true }),
  );
}

/** A log that keeps nothing. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};

/** An error as one string with its chain of causes: stack traces stay out of production logs. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  let at: unknown = error;
  for (let depth = 0; at !== undefined && at !== null && depth < 5; depth += 1) {
    parts.push(at instanceof Error ? `${at.name}: ${at.message}` : String(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return parts.join(" ← ");
}
