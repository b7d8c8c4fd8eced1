import { type StatusCode, StatusCodes } from "node-opcua";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { sourceOf } from "./commands/source-of.ts";
import type { Account } from "./security.ts";

/** Audits a refused write. `operation` is the tag's path; `asked` the written value. */
export type ReportRefusedWrite = (
  account: Account,
  operation: string,
  asked: unknown,
  refused: Outcome,
) => void;

/** A PLC may write in every cycle: a repeated refusal has no line of its own. */
export function createRefusedWrites(audit: RefusalAudit, robotId: RobotId | null): ReportRefusedWrite {
  let last = "";
  return ({ name, origin }, operation, asked, refused) => {
    const key = JSON.stringify([name, asked, refused.code]);
    if (key === last) return;
    last = key;
    const request = { source: sourceOf({ name }), requestId: null, operation, robotId };
    audit.refused(origin === undefined ? request : { ...request, origin }, refused);
  };
}

/** The status of a refused write; `otherwise` says what is wrong with the value. */
export function statusOfRefused({ code }: Outcome, otherwise: StatusCode): StatusCode {
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
