import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Cancel, Clock } from "../clock.ts";
import { aborted, type Component, type Health } from "../component.ts";
import type { FreeBytes } from "../disk-health.ts";
import { messageOf } from "../error-text.ts";
import { makeFolder } from "../folder.ts";
import type { Log } from "../log.ts";
import { inOrder, nextNumber } from "../plain-file.ts";
import { createTurns } from "../queues.ts";
import type { RunningTime } from "../running-time.ts";
import { createChunks } from "./chunks.ts";
import type { RecorderOptions, RecorderTap } from "./recording.ts";
import { ENDING } from "./recording.ts";
import { createSegments, type SavedRecording } from "./segments.ts";

/** The time after an alarm is worth recording too. */
const AFTER_MS = 15_000;

const BETWEEN_MS = 600_000;

export interface RecorderParts {
  readonly clock: Clock;
  /** Segments of earlier runs age by it. */
  readonly time: RunningTime;
  readonly log: Log;
  readonly freeBytes: FreeBytes;
  /** The version of the gateway. */
  readonly version: string;
}

/** Keeps the last minutes on the disk, and saves them on request. */
export interface Recorder extends Component {
  readonly tap: RecorderTap;
  /** Saves the last minutes. Rejects with an error whose message is for people. */
  save(cause: string): Promise<SavedRecording>;
  /** An alarm was raised: saves soon, once for all alarms until then, and not again for a while. */
  alarm(cause: string): void;
}

const WRITE_WITHIN_MS = 1_000;
/** The journal and other programs come first: with less room than this, nothing is recorded. */
const MEGABYTE = 1024 * 1024;
const LEAST_FREE_BYTES = 64 * MEGABYTE;
const RETRY_MS = 60_000;

export function createRecorder(options: RecorderOptions, parts: RecorderParts): Recorder {
  const { clock, time, log, freeBytes, version } = parts;
  const { folder, saved: keep } = options;
  const savedFolder = join(folder, "saved");
  const chunks = createChunks(clock);
  const segments = createSegments(options, { version, clock, time });
  const counts = { saved: 0, saveFailures: 0 };
  let isRunning = false;
  /** Why nothing is recorded. */
  let problem: string | null = null;
  let retryAtMs = 0;
  let cancelWrite: Cancel | null = null;
  /** One task at a time: nothing is removed while it is being saved. */
  const afterwards = createTurns();

  function scheduleWrite(): void {
    if (cancelWrite !== null || !isRunning) return;
    cancelWrite = clock.after(WRITE_WITHIN_MS, () => {
      cancelWrite = null;
      void afterwards(drain);
    });
  }

  async function drain(): Promise<void> {
    for (let chunk = chunks.take(), isFirst = true; chunk !== null; chunk = chunks.take(), isFirst = false) {
      try {
        // One check is enough: what waits is small beside the room that is left to others.
        if (isFirst) needRoom(folder, freeBytes, chunk.bytes.length);
        await segments.append(chunk.bytes);
        chunks.written(chunk);
        if (problem !== null) log.info({ folder }, "recording goes on");
        problem = null;
      } catch (error) {
        chunks.lost(chunk);
        await fail(error);
        return;
      }
    }
  }

  /** Nothing is recorded for a while; the reason is logged once. */
  async function fail(error: unknown): Promise<void> {
    if (problem === null) log.warn({ err: error, folder }, "recording stops: nothing else does");
    problem = messageOf(error);
    retryAtMs = clock.monotonicMs() + RETRY_MS;
    chunks.clear();
    await segments.close().catch(() => {});
  }

  async function saveAs(by: SavedBy, cause: string): Promise<SavedRecording> {
    await drain();
    needRoom(folder, freeBytes, segments.bytes());
    await makeFolder(savedFolder);
    const number = await removeOldest(savedFolder, by, keep - 1);
    const found = await segments.save(savedPath(savedFolder, by, clock.nowMs(), number), cause);
    if (found === null) throw new Error(problem ?? "nothing was recorded yet");
    counts.saved += 1;
    log.info({ path: found.path, bytes: found.bytes, cause }, "a recording was saved");
    return found;
  }

  function save(by: SavedBy, cause: string): Promise<SavedRecording> {
    return afterwards(() => saveAs(by, cause)).catch((error: unknown) => {
      counts.saveFailures += 1;
      throw error;
    });
  }

  const alarms = createAlarmSaves(clock, (cause) => {
    save("alarm", cause).catch((err: unknown) =>
      log.warn({ err, cause }, "an alarm's recording was not saved"),
    );
  });
  const isOff = () => !isRunning || (problem !== null && clock.monotonicMs() < retryAtMs);

  return {
    name: "recorder",
    tap: {
      get isOn() {
        return isRunning;
      },
      get segment() {
        return segments.begun();
      },
      write(kind, parts) {
        if (isOff()) return chunks.drop();
        chunks.write(kind, parts);
        scheduleWrite();
      },
    },
    save: (cause) => save("user", cause),
    alarm(cause) {
      if (isRunning) alarms.raised(cause);
    },
    health: () => healthOf(isRunning, problem, { ...counts, ...chunks.figures() }),
    async run(signal, ready) {
      isRunning = true;
      ready();
      await aborted(signal);
      isRunning = false;
      cancelWrite?.();
      alarms.close();
      await afterwards(drain);
      await segments.close();
    },
  };
}

function healthOf(
  isRunning: boolean,
  problem: string | null,
  figures: Readonly<Record<string, number>>,
): Health {
  if (problem === null) return { state: isRunning ? "up" : "down", figures };
  // Without a time: otherwise the text would change with each try, and be published again.
  const detail = `nothing is recorded: ${problem} (as of the last try; the next is within a minute)`;
  return { state: "degraded", detail, figures };
}

/** Throws if so many bytes would leave too little room. */
function needRoom(folder: string, freeBytes: FreeBytes, bytes: number): void {
  const free = freeBytes(folder);
  if (free === null || free >= LEAST_FREE_BYTES + bytes) return;
  throw new Error(`the disk of ${folder} has only ${Math.floor(free / MEGABYTE)} MB left`);
}

/** Decides when a recording of an alarm is saved. */
interface AlarmSaves {
  /** An alarm was raised: `save` is called soon, with the first cause of all alarms until then. */
  raised(cause: string): void;
  close(): void;
}

function createAlarmSaves(
  clock: Pick<Clock, "after" | "monotonicMs">,
  save: (cause: string) => void,
): AlarmSaves {
  let cancel: Cancel | null = null;
  let savedAtMs = Number.NEGATIVE_INFINITY;
  return {
    raised(cause) {
      if (cancel !== null) return;
      const gapMs = savedAtMs + BETWEEN_MS - clock.monotonicMs();
      cancel = clock.after(Math.max(AFTER_MS, gapMs), () => {
        cancel = null;
        savedAtMs = clock.monotonicMs();
        save(cause);
      });
    },
    close: () => cancel?.(),
  };
}

/**
 * Who asked for a saved recording. Each kind has files of its own, so that alarms replace no recording of a
 * user.
 */
type SavedBy = "alarm" | "user";

/** The path of a recording that is saved now. */
function savedPath(folder: string, by: SavedBy, nowMs: number, number: number): string {
  const time = new Date(nowMs).toISOString().replace(/[:.]/g, "-");
  return join(folder, `${by}-${time}-${number}${ENDING}`);
}

/**
 * Removes the oldest recordings, so that at most `keep` remain, and files that a crash has left half written.
 *
 * @returns the number of the next one
 */
async function removeOldest(folder: string, by: SavedBy, keep: number): Promise<number> {
  const names = await readdir(folder);
  const own = inOrder(names.filter((name) => name.startsWith(`${by}-`) && name.endsWith(ENDING)));
  const halves = names.filter((name) => name.endsWith(`${ENDING}.new`));
  for (const name of [...own.slice(0, Math.max(0, own.length - keep)), ...halves])
    await rm(join(folder, name), { force: true });
  return nextNumber(own);
}
