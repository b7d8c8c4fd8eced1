import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type Clock, every } from "./clock.ts";
import { describeError } from "./error-text.ts";
import { createKeptFile, readNowIfThere } from "./kept-file.ts";
import type { Log } from "./log.ts";

/**
 * How long gateways have run on a data folder in all: records age by it. No wall clock counts, so a wrong one
 * makes nothing old.
 */
export interface RunningTime {
  /**
   * In milliseconds, over all runs. A crash loses at most ten minutes of it: records are then kept for
   * longer, never for shorter.
   */
  totalMs(): number;
  /** A record of an earlier run shows that it was so much already, and a crash has lost some of it. */
  atLeast(totalMs: number): void;
}

/** The running time of a data folder, kept in a file. */
export interface KeptRunningTime extends RunningTime {
  /** Writes it down from now on. */
  begin(signal: AbortSignal): void;
  /** Writes it down once more at the end of the run. Never rejects. */
  end(): Promise<void>;
}

/** Its name in the data folder. */
export const RUNNING_TIME_FILE = "running-time";
/** A crash loses this much of it. Writing more often would wear out a flash disk. */
const KEEP_EVERY_MS = 600_000;

/** Continues from the time of earlier runs. */
export function createRunningTime(earlierMs: number, clock: Pick<Clock, "monotonicMs">): RunningTime {
  let offsetMs = earlierMs - clock.monotonicMs();
  return {
    totalMs: () => Math.floor(offsetMs + clock.monotonicMs()),
    atLeast(totalMs) {
      offsetMs = Math.max(offsetMs, totalMs - clock.monotonicMs());
    },
  };
}

/** Reads the time of earlier runs. A missing or damaged file counts as 0. */
export function openRunningTime(dataDir: string, clock: Clock, log: Log): KeptRunningTime {
  const path = join(dataDir, RUNNING_TIME_FILE);
  const file = createKeptFile(path);
  const time = createRunningTime(readEarlier(path, log), clock);
  let isFailing = false;

  async function keep(): Promise<void> {
    try {
      await file.write(lineOf(time.totalMs()));
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ path, cause: describeError(error) }, `the running time is not kept: ${LATER}`);
      isFailing = true;
    }
  }

  return {
    ...time,
    begin: (signal) => every(clock, KEEP_EVERY_MS, signal, () => void keep()),
    end: keep,
  };
}

const LATER = "old records are removed later";

/** With a checksum: a number that is too large makes records old, and their commands could be sent again. */
function lineOf(totalMs: number): string {
  return `${totalMs} ${crc32(`${totalMs}`).toString(16)}\n`;
}

function readEarlier(path: string, log: Log): number {
  try {
    const text = readNowIfThere(path);
    if (text === undefined) return 0;
    const earlierMs = Number(text.split(" ")[0]);
    if (Number.isSafeInteger(earlierMs) && text === lineOf(earlierMs)) return earlierMs;
    log.warn({ path }, `the running time is damaged and begins at 0: ${LATER}`);
  } catch (error) {
    log.warn({ path, cause: describeError(error) }, `the running time cannot be read: ${LATER}`);
  }
  return 0;
}
