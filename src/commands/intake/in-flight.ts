import type { Outcome } from "../../domain/outcome.ts";
import type { Log } from "../../platform/log.ts";
import type { IntakeOptions } from "../options.ts";
import { failed } from "../own-refusals.ts";

/** Counts the commands whose outcome is awaited, of all sources and of each. */
export interface InFlight {
  /** Whether one more of this source is too many. `isUrgent`: a stop, or a repetition of a known command. */
  isFull(source: string, isUrgent: boolean): boolean;
  /** Counts a command until its outcome is there. Never rejects: a rejection is a failure of the gateway. */
  follow(source: string, outcome: Promise<Outcome>): Promise<Outcome>;
  readonly count: number;
}

/** Capacity that is kept for stops and repetitions, in shares of the usual one. */
const URGENT_SHARE = 2;

export function createInFlight(
  { maxCommands, maxCommandsOfSource }: Pick<IntakeOptions, "maxCommands" | "maxCommandsOfSource">,
  log: Log,
): InFlight {
  const bySource = new Map<string, number>();
  let count = 0;

  function leave(source: string): void {
    count -= 1;
    const left = (bySource.get(source) ?? 0) - 1;
    if (left > 0) bySource.set(source, left);
    else bySource.delete(source);
  }

  return {
    isFull(source, isUrgent) {
      const share = isUrgent ? URGENT_SHARE : 1;
      return count >= share * maxCommands || (bySource.get(source) ?? 0) >= share * maxCommandsOfSource;
    },
    follow(source, outcome) {
      count += 1;
      bySource.set(source, (bySource.get(source) ?? 0) + 1);
      return outcome.then(
        (final) => {
          leave(source);
          return final;
        },
        (error: unknown) => {
          leave(source);
          log.error({ err: error }, "a command failed inside the gateway");
          return failed();
        },
      );
    },
    get count() {
      return count;
    },
  };
}
