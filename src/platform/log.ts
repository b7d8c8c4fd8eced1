import { type DestinationStream, type Logger, pino } from "pino";
import { describeError } from "./error-text.ts";
import { plainLines } from "./plain-text.ts";

/** Fields of a log line. Never a token, a secret or a whole request. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured log: one line for a transition, none for its repetitions. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** The same log with fields of its own on every line. */
  child(fields: LogFields): Log;
}

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** The levels of a log's components, which can change at run time. */
export interface LogLevels {
  /**
   * The level of each component with a log of its own, by the field `part` of its lines; `gateway`: all
   * others.
   */
  list(): Readonly<Record<string, LogLevel>>;
  /**
   * Holds until the process ends. Null: all components. The log has a line about it at any level. False:
   * there is no such component.
   */
  set(component: string | null, level: LogLevel, by: string): boolean;
}

export interface LeveledLog extends Log {
  readonly levels: LogLevels;
}

/** Lines without a component of their own. */
const ROOT = "gateway";
const CHANGED = "log level changed";

const STANDARD_ERROR = 2;

/** Writes lines that a terminal shows as they are: others choose some of the words. */
export function lineDestination(fd = STANDARD_ERROR): DestinationStream {
  const stream = pino.destination({ fd, sync: true });
  return { write: (line) => stream.write(plainLines(line)) };
}

/** JSON lines on `destination` (standard error by default), with the causes of errors. */
export function createLog(level: LogLevel, destination?: DestinationStream): LeveledLog {
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError, cause: describeError },
    },
    destination ?? lineDestination(),
  );
  /** Logs changes of the levels, at a level of its own. */
  const record = root.child({});
  const levels = new Map<string, LogLevel>([[ROOT, level]]);
  const loggers: Array<{ readonly component: string; readonly logger: Logger }> = [];

  function leveled(logger: Logger, component: string): Log {
    return {
      debug: (fields, message) => logger.debug(fields, message),
      info: (fields, message) => logger.info(fields, message),
      warn: (fields, message) => logger.warn(fields, message),
      error: (fields, message) => logger.error(fields, message),
      child(fields) {
        const { part } = fields;
        const own = typeof part === "string" ? part : component;
        if (!levels.has(own)) levels.set(own, levels.get(component) ?? level);
        const child = logger.child(fields, { level: levels.get(own) ?? level });
        // Logs without a name may come and go by the thousand.
        if (typeof part === "string") loggers.push({ component: own, logger: child });
        return leveled(child, own);
      },
    };
  }

  loggers.push({ component: ROOT, logger: root });
  return {
    ...leveled(root, ROOT),
    levels: {
      list: () => Object.fromEntries(levels),
      set(component, to, by) {
        if (component !== null && !levels.has(component)) return false;
        const from = Object.fromEntries(levels);
        for (const name of component === null ? [...levels.keys()] : [component]) levels.set(name, to);
        for (const each of loggers) each.logger.level = levels.get(each.component) ?? level;
        // Otherwise it would follow the root's level.
        record.level = "info";
        record.info({ component: component ?? "*", from, to, by }, CHANGED);
        return true;
      },
    },
  };
}

/** A log that writes nothing. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
