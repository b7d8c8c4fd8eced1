import type { Clock } from "../../platform/clock.ts";
import type { Job } from "../job.ts";
import type { EvidenceSearch } from "./evidence-search.ts";
import type { Observations } from "./observations.ts";
import { isWatchRule, watchBaseline } from "./watch.ts";

/**
 * What is known of a robot before a call leaves, so that evidence can be told from what was there already.
 */
export interface Baselines {
  /** Asks the service, where the rule of the command needs that. */
  ask(job: Job): Promise<void>;
  /** What the journal keeps of it. */
  record(job: Job): unknown;
  /** The first call of a command is made: begins to watch its robot. */
  watch(job: Job): void;
}

export function createBaselines(
  search: Pick<EvidenceSearch, "baseline" | "watch">,
  observations: Pick<Observations, "missions">,
  clock: Clock,
): Baselines {
  async function ask(job: Job): Promise<void> {
    const { evidence } = job.request;
    if (evidence.kind === "query") job.baseline = await search.baseline(evidence);
  }

  return {
    ask,
    record({ request: { evidence }, robotId, baseline }) {
      if (robotId === null) return null;
      if (evidence.kind === "query") return baseline;
      return isWatchRule(evidence) ? watchBaseline(evidence, observations.missions(robotId)) : null;
    },
    watch(job) {
      const { id, robotId, request } = job;
      // A stop does not wait for the state before it. It is asked for as the stop leaves, and may come too
      // late.
      if (request.effect === "stops") void ask(job);
      if (robotId === null || !isWatchRule(request.evidence)) return;
      const baseline = watchBaseline(request.evidence, observations.missions(robotId));
      search.watch(id, request.evidence, robotId, baseline, clock.nowMs());
    },
  };
}
