import type { Outcome } from "../../domain/outcome.ts";
import type { EvidenceSearch } from "../evidence/evidence-search.ts";
import type { Job } from "../job.ts";
import type { Shared } from "../parts.ts";

interface SeekingParts extends Pick<Shared, "options" | "shared" | "clock"> {
  readonly search: Pick<EvidenceSearch, "seek">;
  /** Sends the stops again that came while this start was under way. */
  readonly repeatStops: (job: Job) => Promise<unknown>;
}

/**
 * Seeks evidence of a command whose call has no answer. Resolves with its outcome.
 *
 * @param arrivalMs how long its call may still arrive; absent: as long as this run's last call may
 */
export type SeekEvidence = (job: Job, otherwise: Outcome, arrivalMs?: number) => Promise<Outcome>;

export function createSeeking({ options, search, shared, clock, repeatStops }: SeekingParts): SeekEvidence {
  /** A record that is final keeps no other member waiting for a call that may still arrive. */
  function untilArrivalMs({ leftAtMs }: Job): number {
    if (shared === null || leftAtMs === null) return 0;
    return Math.max(0, leftAtMs + options.callDeadlineMs - clock.monotonicMs());
  }

  return async (job, otherwise, arrivalMs = untilArrivalMs(job)) => {
    const { id, request } = job;
    const baseline = job.record?.baseline ?? job.baseline;
    const arrived = arrivalMs === 0 ? null : new Promise<void>((resolve) => clock.after(arrivalMs, resolve));
    const outcome = await search.seek(id, request.evidence, baseline, otherwise);
    if (outcome === otherwise && arrived !== null) await arrived;
    // Before the next start leaves, which they would undo.
    job.stopsOwed.push(...job.stopsSince.splice(0));
    if (job.stopsOwed.length > 0) await repeatStops(job);
    return outcome;
  };
}
