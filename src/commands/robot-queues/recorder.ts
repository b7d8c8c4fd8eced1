import type { Outcome } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Baselines } from "../evidence/baselines.ts";
import type { Job } from "../job.ts";
import type { JournalRecord } from "../journal/journal.ts";
import type { WatchedJournal } from "../journal/watched-journal.ts";
import type { DispatcherOptions } from "../options.ts";
import type { QueueInput } from "./robot-queue.ts";

export interface RecorderParts {
  readonly options: Pick<DispatcherOptions, "stopSyncMs">;
  readonly journal: Pick<WatchedJournal, "writeInTime">;
  readonly clock: Clock;
  readonly log: Log;
  readonly baselines: Baselines;
  /** Why a command must not leave now; null when it may. */
  readonly whyNotNow: (job: Job) => Outcome | null;
  readonly feed: (job: Job, input: QueueInput) => void;
}

/** Returns what writes the record of a stage, and tells the queue of the command when it is on the disk. */
export function createRecorder(parts: RecorderParts): (job: Job, as: "accepted" | "sent") => Promise<void> {
  const { options, journal, clock, log, feed } = parts;

  function recordOf(job: Job, as: "accepted" | "sent"): JournalRecord {
    const nowMs = clock.nowMs();
    const { id, digest, command, queue, robotId, request } = job;
    return {
      id,
      digest,
      command,
      queue,
      robotId,
      acceptedAtMs: job.record?.acceptedAtMs ?? nowMs,
      sentAtMs: as === "sent" ? nowMs : null,
      finalAtMs: null,
      sentJson: request.json,
      baseline: as === "sent" ? parts.baselines.record(job) : null,
      outcome: null,
    };
  }

  return async (job, as) => {
    const { id } = job;
    job.record = recordOf(job, as);
    const isStop = job.request.effect === "stops";
    const late = () => feed(job, { kind: "record_late", id });
    const cancelLate = isStop ? clock.after(options.stopSyncMs, late) : null;
    const failure = await journal.writeInTime(job.record);
    cancelLate?.();
    if (failure === null) {
      feed(job, { kind: "recorded", id, as, refused: as === "sent" ? parts.whyNotNow(job) : null });
      return;
    }
    log.error({ cause: failure, command: id }, "the journal failed");
    feed(job, { kind: "record_failed", id, message: failure });
  };
}
