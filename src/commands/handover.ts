import { type Clock, sleep } from "../platform/clock.ts";
import type { Composition } from "./composition.ts";
import { standingBy } from "./own-refusals.ts";

/** What ends here before another member leads. Meanwhile this member takes stops only. */
export interface HandoverSteps {
  /** Conveyors that were started through the gateway, and are not known to stand. */
  turning(): number;
  /** Stops them. */
  stopConveyors(): void;
  /**
   * Refuses what was not sent, and waits at most `deadlineMs` for the rest: the next leader seeks evidence of
   * what has no outcome by then.
   */
  settle(deadlineMs: number): Promise<{ readonly refused: number; readonly underWay: number }>;
  /** Robots that take no other start until the end of an earlier leader's command is known. */
  robotsInDoubt(): number;
}

const LOOK_MS = 20;

export function createHandoverSteps(
  { guards: { conveyors }, runner, running, report }: Composition,
  clock: Clock,
): HandoverSteps {
  const never = new AbortController().signal;
  const refusals = () => report.counts().refused ?? 0;
  return {
    turning: () => conveyors.figures().conveyorsStarted ?? 0,
    stopConveyors: conveyors.shutDown,
    async settle(deadlineMs) {
      const untilMs = clock.monotonicMs() + deadlineMs;
      const before = refusals();
      for (const job of running.values()) runner.withdraw(job, standingBy());
      while (running.size > 0 && clock.monotonicMs() < untilMs) await sleep(clock, LOOK_MS, never);
      return { refused: refusals() - before, underWay: running.size };
    },
    robotsInDoubt: () => runner.figures().inDoubt,
  };
}
