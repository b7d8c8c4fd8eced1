import type { Clock } from "../platform/clock.ts";
import type { Conclusion } from "./conclusion.ts";
import type { HoldKeeper } from "./holds/hold-keeper.ts";
import type { Job } from "./job.ts";
import type { Journal } from "./journal/journal.ts";
import type { LeaseKeeper } from "./leases/lease-keeper.ts";
import { shuttingDown } from "./own-refusals.ts";
import { interrupted, type QueueRunner } from "./robot-queues/queue-runner.ts";

export interface ShutdownParts {
  readonly running: ReadonlyMap<string, Job>;
  readonly stopping: AbortController;
  readonly runner: Pick<QueueRunner, "withdraw" | "abandon">;
  readonly conclusion: Conclusion;
  readonly leases: Pick<LeaseKeeper, "settled">;
  readonly holds: Pick<HoldKeeper, "settled">;
  readonly journal: Pick<Journal, "close">;
  readonly clock: Clock;
}

/**
 * Refuses what was not sent, waits at most `deadlineMs` for the rest, ends that as unknown, and closes the
 * journal.
 */
export async function shutDown(parts: ShutdownParts, deadlineMs: number): Promise<void> {
  const { running, runner } = parts;
  parts.stopping.abort();
  for (const job of running.values()) runner.withdraw(job, shuttingDown());
  await drained(parts, deadlineMs);
  for (const job of running.values()) {
    const isQueued = runner.abandon(job, interrupted(job.request.repeat.kind === "repeatable"));
    if (!isQueued) void parts.conclusion.conclude(job, shuttingDown());
  }
  await allDone(running);
  await parts.leases.settled();
  await parts.holds.settled();
  await parts.journal.close();
}

async function allDone(running: ReadonlyMap<string, Job>): Promise<void> {
  await Promise.all(Array.from(running.values(), (job) => job.done));
}

/** Resolves when no command is in hand any more, or when the time is up. */
function drained({ running, clock }: ShutdownParts, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(deadlineMs, resolve);
    void allDone(running).then(() => {
      cancel();
      resolve();
    });
  });
}
