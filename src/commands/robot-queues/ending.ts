import type { CallEnding } from "../../contracts/fleet-port.ts";
import type { RepeatRule } from "../../contracts/operation.ts";
import type { Effect } from "../../domain/command.ts";
import { type Outcome, ending as outcomeOf, refusal } from "../../domain/outcome.ts";

/** What follows from the ending of a call. */
export type EndingDecision =
  | { readonly kind: "final"; readonly outcome: Outcome }
  /** Sent again while its repeat rule allows it. */
  | { readonly kind: "again" }
  /** Evidence is sought; without any, `otherwise` is the outcome. */
  | { readonly kind: "seek"; readonly otherwise: Outcome };

/** The sent command. */
interface Sent {
  readonly effect: Effect;
  readonly repeat: RepeatRule;
  /** The last ending after which the robot may act; null: there was none. */
  readonly unknown: Extract<CallEnding, { kind: "unknown" }> | null;
}

/**
 * What follows a call's ending (docs/commands.md, Order). Only OK, and an explicit refusal of the first
 * sending, say what happened.
 */
export function decideEnding(work: Sent, ending: CallEnding): EndingDecision {
  switch (ending.kind) {
    case "ok":
      return {
        kind: "final",
        outcome: {
          ...outcomeOf("succeeded", "OK", ending.note ?? "", work.effect === "reads"),
          responseJson: ending.responseJson,
          missionId: ending.missionId,
        },
      };
    case "refused":
      return refused(work, ending);
    case "not_sent":
      if (work.repeat.kind === "repeatable") return { kind: "again" };
      return {
        kind: "final",
        outcome: ending.byStop ? refusal("CANCELED_BY_STOP", ending.message) : unreachable(ending.message),
      };
    case "unknown":
      if (work.repeat.kind === "repeatable") return { kind: "again" };
      return { kind: "seek", otherwise: unknownOutcome(work, ending) };
  }
}

/** What follows if a repeatable command has no answer and is not sent again: `over` says why. */
export function endingAfterRepeats(work: Sent, over: string): Exclude<EndingDecision, { kind: "again" }> {
  if (work.unknown === null) {
    return {
      kind: "final",
      outcome: unreachable(`no connection to the service, or no place on it, ${over}`),
    };
  }
  return { kind: "seek", otherwise: unknownOutcome(work, work.unknown) };
}

function refused(work: Sent, ending: Extract<CallEnding, { kind: "refused" }>): EndingDecision {
  const first = work.unknown;
  if (first === null || work.effect === "reads") {
    return { kind: "final", outcome: refusal(ending.code, ending.message) };
  }
  // An earlier sending may have acted: a refusal now does not deny that.
  const story = `the first sending ended ${first.code}; sent again, the service answered ${ending.code}: ${ending.message}`;
  if (work.repeat.kind === "repeatable" && work.repeat.alreadyDone.includes(ending.code)) {
    return {
      kind: "final",
      outcome: { ...outcomeOf("probably_succeeded", "OK", "", true), evidence: `${story} (already done)` },
    };
  }
  return { kind: "seek", otherwise: outcomeOf("unknown", ending.code, story, true) };
}

function unknownOutcome(work: Sent, ending: Extract<CallEnding, { kind: "unknown" }>): Outcome {
  const reason = ending.message || "the call ended without an answer";
  const message = work.effect === "reads" ? reason : `${reason}; the robot may have acted, or may act later`;
  return outcomeOf("unknown", ending.code, message, work.repeat.kind === "repeatable");
}

function unreachable(message: string): Outcome {
  return refusal("FLEET_UNREACHABLE", `it was not sent: ${message}`);
}
