import type { RefusalAudit } from "../../contracts/commander.ts";
import { clip } from "../../domain/clip.ts";
import type { Command } from "../../domain/command.ts";
import { refusal } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createLogOnDelays } from "../../platform/log-on-delay.ts";

/** Somebody who logs on: a user, at one address, with one client program. */
export interface Applicant {
  readonly name: string;
  readonly origin: NonNullable<Command["origin"]>;
  /** Whether the connection is still there. */
  isThere(): boolean;
}

/** Delays the log-ons that follow failed ones, and reports those that failed. */
export interface LogOnGate {
  /** Calls `attempt` at once, or when the delay is over; `refuse` where that would take too long. */
  pass(applicant: Applicant, attempt: () => void, refuse: () => void): void;
  succeeded(applicant: Applicant): void;
  /** @param why a sentence without its end */
  failed(applicant: Applicant, why: string): void;
  /** The same for what nobody can guess: within a delay it is not reported again. */
  failedAgain(applicant: Applicant, why: string): void;
}

/** A log-on waits so long itself: less than a session has to get a user. A longer delay refuses it. */
const LONGEST_HOLD_MS = 4_000;
/** Of the name that somebody logs on by, in a log. */
const LONGEST_NAME = 64;

export function createLogOnGate(clock: Clock, log: Log, audit: RefusalAudit): LogOnGate {
  const delays = createLogOnDelays(clock);
  /** Those of whom an attempt waits; others of the same are refused meanwhile. */
  const held = new Set<string>();

  const gate: LogOnGate = {
    pass(applicant, attempt, refuse) {
      const who = whoIs(applicant);
      const waitMs = delays.waitMs(...who);
      const key = JSON.stringify(who);
      if (held.has(key) || waitMs > LONGEST_HOLD_MS) refuse();
      else if (waitMs === 0) attempt();
      else {
        held.add(key);
        clock.after(waitMs, () => {
          held.delete(key);
          if (applicant.isThere()) attempt();
        });
      }
    },
    succeeded: (applicant) => delays.succeeded(...whoIs(applicant)),
    failed(applicant, why) {
      const { count, delayMs } = delays.failed(...whoIs(applicant));
      const name = clip(applicant.name, LONGEST_NAME);
      const { origin } = applicant;
      const source = { protocol: "opcua", name } as const;
      audit.refused(
        { source, requestId: null, operation: "log_on", robotId: null, origin },
        refusal("NOT_ALLOWED", `${why}; failed log-ons in a row: ${count}`),
      );
      log.warn(
        { user: name, from: origin.address, reason: why, count, delayMs },
        "an OPC UA log-on was refused",
      );
    },
    failedAgain(applicant, why) {
      if (delays.waitMs(...whoIs(applicant)) === 0) gate.failed(applicant, why);
    },
  };
  return gate;
}

function whoIs({ name, origin }: Applicant): readonly string[] {
  return [name, origin.address ?? "", origin.certificate ?? ""];
}
