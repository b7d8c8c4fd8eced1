import { createBackoff } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { errorText } from "../error-text.ts";
import { ReadFailed } from "./reader.ts";

/** The state of a poll. */
export interface PollState {
  readonly turns: number;
  readonly failures: number;
  /** Why the last poll failed; null: it did not. */
  readonly problem: string | null;
}

export interface PollParts {
  readonly name: string;
  readonly periodMs: number;
  /** The period while the service does not have the operation. */
  readonly unimplementedMs: number;
  readonly clock: Clock;
  readonly log: Log;
  turn(): Promise<void>;
  /**
   * Whether the last poll came before the values that it needs: the next ones follow soon, at growing
   * distances.
   */
  isEarly?(): boolean;
}

/** The first period of early polls. */
const EARLY_MS = 250;

/**
 * Polls again and again, one request at a time; a failure is counted, and logged if it differs from the one
 * before.
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
      // The parser's error quotes the text.
      const message = errorText(error);
      if (problem !== message) log.warn({ poll: parts.name, problem: message }, "a poll failed");
      problem = message;
      if (error instanceof ReadFailed && error.code === "UNIMPLEMENTED") return parts.unimplementedMs;
    }
    return Math.max(0, distanceMs() - (clock.monotonicMs() - startedAtMs));
  }

  /** From the beginning of one poll to the next. */
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
