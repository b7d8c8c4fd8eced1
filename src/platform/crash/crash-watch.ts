import { getHeapStatistics } from "node:v8";
import { type Clock, every } from "../clock.ts";
import type { Health } from "../component.ts";
import { describeError } from "../error-text.ts";
import type { JsonObject } from "../json.ts";
import type { Log } from "../log.ts";
import { rssBytes } from "../process-health.ts";
import type { CrashFolder, Life } from "./crash-folder.ts";
import { hideSecrets, hideSecretsIn } from "./hide-secrets.ts";

export interface CrashWatchParts {
  readonly version: string;
  readonly bootId: string;
  readonly secrets: readonly string[];
  /** The last lines of the log, the oldest first. */
  readonly lastLines: () => readonly string[];
  readonly health: () => Readonly<Record<string, Health>>;
  readonly clock: Clock;
  /** The running time of the gateway. */
  readonly runningMs: () => number;
  readonly log: Log;
}

/** Writes a report when this run crashes, and logs that an earlier one did. */
export interface CrashWatch {
  /** Reports how the run before ended, and notes from now on that this one lives. */
  begin(signal: AbortSignal): Promise<void>;
  /** Writes a report if the run has begun. Never throws: the process ends next. */
  crashed(error: unknown): void;
  /** The same for a reason that is known and logged. During the start that is no crash. */
  failed(error: unknown): void;
  /** Notes that the run ends in order. */
  end(): Promise<void>;
  /** The same for a process that ends at once, and will be started again. Never throws. */
  giveWay(): void;
  health(): Health;
}

const NOTE_MS = 60_000;
const LOOK_MS = 10_000;
const DAY_MS = 86_400_000;
/** A run that vanished while it used this share of its memory limit has most likely run out of memory. */
const NEARLY_FULL = 0.8;

export function createCrashWatch(folder: CrashFolder, parts: CrashWatchParts): CrashWatch {
  const { clock, log } = parts;
  const startedAt = iso(clock.nowMs());
  const runningReport = createRunningReport(folder, parts.runningMs);
  let noting: Promise<void> = Promise.resolve();
  let hasBegun = false;
  let hasEnded = false;

  function note(): void {
    if (hasEnded) return;
    noting = folder.noteLife(lifeOf(parts, startedAt)).catch((error: unknown) => {
      log.debug({ err: error }, "that this run lives could not be noted");
    });
  }

  function leaveReport(error: unknown): void {
    try {
      const stack = error instanceof Error ? (error.stack ?? null) : null;
      const cause = hideSecrets(describeError(error), parts.secrets);
      const shownStack = stack === null ? null : hideSecrets(stack, parts.secrets);
      const path = folder.keep({ ...lifeOf(parts, startedAt), cause, stack: shownStack });
      log.error({ cause, report: path }, "the gateway crashes");
      folder.endLife();
    } catch (cause) {
      log.error({ err: error, cause }, "the gateway crashes, and its report cannot be written");
    }
  }

  function endLife(): void {
    hasEnded = true;
    try {
      folder.endLife();
    } catch (error) {
      log.debug({ err: error }, "the note that this run lives could not be removed");
    }
  }

  return {
    async begin(signal) {
      hasBegun = true;
      try {
        await folder.make();
        await runningReport.look();
        reportEarlier(folder, parts, runningReport.last()?.startedAt ?? null);
        await runningReport.look();
      } catch (error) {
        log.warn({ err: error }, "the reports of crashes cannot be read");
      }
      const last = runningReport.last();
      if (last !== null) log.error({ report: last.name, cause: last.cause }, "an earlier run has crashed");
      note();
      every(clock, NOTE_MS, signal, note);
      every(clock, LOOK_MS, signal, () => {
        const failed = (error: unknown) => log.debug({ err: error }, "the reports of crashes cannot be read");
        runningReport.look().catch(failed);
      });
    },
    crashed(error) {
      // Until then the folder may be another gateway's.
      if (hasBegun) leaveReport(error);
      else log.error({ err: error }, "the gateway crashes while it starts");
    },
    failed(error) {
      if (hasBegun) leaveReport(error);
    },
    async end() {
      hasEnded = true;
      // Otherwise a note that is being written would come back after its removal.
      await noting;
      endLife();
    },
    giveWay() {
      // Until then the folder may be another gateway's.
      if (hasBegun) endLife();
    },
    health: runningReport.health,
  };
}

function lifeOf(parts: CrashWatchParts, startedAt: string): Life {
  const { version, bootId, secrets } = parts;
  const { used_heap_size: heapUsed, heap_size_limit: heapLimit } = getHeapStatistics();
  const health = Object.entries(parts.health()).map(
    ([name, { state, detail }]) => [name, detail === undefined ? state : `${state}: ${detail}`] as const,
  );
  const shown = {
    health: Object.fromEntries(health),
    memory: { rss: rssBytes(), heapUsed, heapLimit },
    log: [...parts.lastLines()],
  };
  return {
    version,
    node: process.versions.node,
    pid: process.pid,
    bootId,
    startedAt,
    at: iso(parts.clock.nowMs()),
    runningMs: parts.runningMs(),
    ...(hideSecretsIn(shown, secrets) as JsonObject),
  };
}

/**
 * Writes the report of a run that ended before it could write its own.
 *
 * @param reported when the run of the last report had started
 */
function reportEarlier(folder: CrashFolder, { bootId, log }: CrashWatchParts, reported: string | null): void {
  const earlier = folder.earlierLife();
  if (earlier === null || earlier.startedAt === reported) return;
  if (earlier.bootId === bootId) folder.keep({ ...earlier, cause: silentCause(earlier), stack: null });
  else log.info({ startedAt: earlier.startedAt, lastSeenAt: earlier.at }, "the machine was started again");
}

interface RunningReport {
  readonly name: string;
  readonly cause: string;
  readonly startedAt: string;
  readonly runningMs: number;
}

/** The reports of the last day of running time that are still there, and the last of them. */
function createRunningReport(folder: CrashFolder, nowMs: () => number) {
  const reports = new Map<string, RunningReport>();
  let count = 0;
  let last: RunningReport | null = null;

  function reportOf(name: string): RunningReport {
    const known = reports.get(name);
    if (known !== undefined) return known;
    const { cause = "not known", startedAt = "", runningMs = 0 } = folder.read(name) ?? {};
    const report = { name, cause, startedAt, runningMs };
    reports.set(name, report);
    return report;
  }

  return {
    async look(): Promise<void> {
      const names = await folder.names();
      for (const name of reports.keys()) if (!names.includes(name)) reports.delete(name);
      const young = names.map(reportOf).filter(({ runningMs }) => nowMs() - runningMs < DAY_MS);
      count = young.length;
      last = young.at(-1) ?? null;
    },
    last: () => last,
    health(): Health {
      if (last === null) return { state: "up" };
      const advice = `look at ${last.name} in the folder crash of the data folder, and remove it`;
      return {
        state: "degraded",
        detail: `an earlier run has crashed (${last.cause}): ${advice}`,
        figures: { crashesOfLastDay: count },
      };
    },
  };
}

/** Why a run may have ended without a log line. */
function silentCause({ at, memory }: Life): string {
  const { heapUsed, heapLimit } = (memory ?? {}) as Record<string, number>;
  const isFull = heapUsed !== undefined && heapLimit !== undefined && heapUsed > NEARLY_FULL * heapLimit;
  const likely = isFull ? "its memory was nearly used up" : "killed, out of memory, or a fault of a library";
  return `it ended without a word after ${at}: ${likely}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
