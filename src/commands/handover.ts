import { type Clock, sleep } from "../platform/clock.ts";
import type { Composition } from "./composition.ts";
import { handedOver, standingBy } from "./own-refusals.ts";

/** What ends here before another member leads. Meanwhile this member takes stops only. */
export interface HandoverSteps {
  /** Conveyors that were started through the gateway, and are not known to stand. */
  turning(): number;
  /** Stops them. */
  stopConveyors(): void;
  /**
   * Ends what was not sent, and waits at most `deadlineMs` for the rest: the next leader seeks evidence of
   * what has no outcome by then.
   */
  settle(deadlineMs: number): Promise<{ readonly notSent: number; readonly underWay: number }>;
  /** Robots that take no other start until the end of an earlier leader's command is known. */
  robotsInDoubt(): number;
}

const LOOK_MS = 20;

export function createHandoverSteps(
  { guards: { conveyors }, runner, running, report }: Composition,
  clock: Clock,
): HandoverSteps {
  const never = new AbortController().signal;
  const notSent = () => {
    const { refused = 0, expired = 0 } = report.counts();
    return refused + expired;
  };
  return {
    turning: () => conveyors.figures().conveyorsStarted ?? 0,
    stopConveyors: conveyors.shutDown,
    async settle(deadlineMs) {
      const untilMs = clock.monotonicMs() + deadlineMs;
      const before = notSent();
      // A recorded outcome binds the identity. STANDBY would send its sender to the other box, again and
      // again.
      for (const job of running.values())
        runner.withdraw(job, job.record === null ? standingBy() : handedOver());
      while (running.size > 0 && clock.monotonicMs() < untilMs) await sleep(clock, LOOK_MS, never);
      return { notSent: notSent() - before, underWay: running.size };
    },
    robotsInDoubt: () => runner.figures().inDoubt,
  };
}
