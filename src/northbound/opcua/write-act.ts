import { type StatusCode, StatusCodes } from "node-opcua";
import type { Acts } from "../../contracts/acts.ts";
import type { ActFields, ActName } from "../../domain/acts.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { sourceOf } from "./commands/source-of.ts";
import type { Account } from "./security.ts";

/** The acts that a write answers at once. */
type TagAct = Exclude<ActName, "LeaseRobot">;

/**
 * Performs the act of a written tag. The result is the status of the write; `otherwise` says what is wrong
 * with the value.
 */
export function writeAct<Name extends TagAct>(
  acts: Pick<Acts, "run">,
  name: Name,
  fields: ActFields<Name>,
  account: Account,
  otherwise: StatusCode = StatusCodes.BadInvalidArgument,
): StatusCode {
  const { origin } = account;
  const outcome = acts.run(name, { source: sourceOf(account), origin, fields, isTag: true });
  return outcome instanceof Promise ? StatusCodes.Good : statusOf(outcome, otherwise);
}

function statusOf({ outcome, code }: Outcome, otherwise: StatusCode): StatusCode {
  if (outcome !== "refused") return StatusCodes.Good;
  switch (code) {
    case "NOT_ALLOWED":
      return StatusCodes.BadUserAccessDenied;
    case "SHUTTING_DOWN":
      return StatusCodes.BadShutdown;
    case "QUEUE_FULL":
      return StatusCodes.BadTooManyOperations;
    default:
      return otherwise;
  }
}
