import { createBackoff } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { errorText } from "../error-text.ts";
import { ReadFailed } from "./reader.ts";

/** What a poll can say of itself. */
export interface PollState {
  readonly turns: number;
  readonly failures: number;
  /** Why the last turn failed; null when it did not. */
  readonly problem: string | null;
}

export interface PollParts {
  readonly name: string;
  readonly periodMs: number;
  /** The distance of turns while the service does not have the operation. */
  readonly unimplementedMs: number;
  readonly clock: Clock;
  readonly log: Log;
  turn(): Promise<void>;
  /**
   * Whether the last turn came before what it was for was there: the next ones follow soon, at growing
   * distances.
   */
  isEarly?(): boolean;
}

/** The first distance of turns that come early. */
const EARLY_MS = 250;

/**
 * Does the same again and again, one turn at a time; a failed turn is counted, and said when it is another
 * failure.
 */
export function createPoll(parts: PollParts): {
  state(): PollState;
  run(signal: AbortSignal): Promise<void>;
} {
  const { clock, log } = parts;
  const early = createBackoff({ baseMs: EARLY_MS, capMs: parts.periodMs }, () => 1);
  let turns = 0;
  let failures = 0;
  let problem: string | null = null;

  async function turn(): Promise<number> {
    turns += 1;
    const startedAtMs = clock.monotonicMs();
    try {
      await parts.turn();
      if (problem !== null) log.info({ poll: parts.name }, "a poll succeeds again");
      problem = null;
    } catch (error) {
      failures += 1;
      // What is no JSON is quoted by the error.
      const message = errorText(error);
      if (problem !== message) log.warn({ poll: parts.name, problem: message }, "a poll failed");
      problem = message;
      if (error instanceof ReadFailed && error.code === "UNIMPLEMENTED") return parts.unimplementedMs;
    }
    return Math.max(0, distanceMs() - (clock.monotonicMs() - startedAtMs));
  }

  /** From the beginning of one turn to the next. */
  function distanceMs(): number {
    if (problem === null && parts.isEarly?.() === true) return early.nextMs();
    early.reset();
    return parts.periodMs;
  }

  return {
    state: () => ({ turns, failures, problem }),
    async run(signal) {
      while (!signal.aborted) {
        const delayMs = await turn();
        await sleep(clock, delayMs, signal);
      }
    },
  };
}
