import {
  type DataType,
  type DataValue,
  type NumericRange,
  type StatusCode,
  StatusCodes,
  type Variant,
  VariantArrayType,
} from "node-opcua";
import type { Acts } from "../../contracts/acts.ts";
import type { ActFields, ActName } from "../../domain/acts.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { Account } from "./security.ts";
import { sourceOf } from "./security.ts";

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

/** The status of an act that has ended; `otherwise` says what is wrong with the values. */
export function statusOf({ outcome, code }: Outcome, otherwise: StatusCode): StatusCode {
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

/** Whether one whole value of the type was written, and not a list or a part. */
export function isWholeValue(variant: Variant, type: DataType, range: NumericRange | null): boolean {
  return variant.dataType === type && variant.arrayType === VariantArrayType.Scalar && range === null;
}

/**
 * Whether only a value is written. Neither a status other than Good (0) nor a timestamp can be written:
 * `AccessLevel` has neither StatusWrite nor TimestampWrite (OPC UA part 4, 5.10.4).
 */
export function isValueAlone({ statusCode, sourceTimestamp, serverTimestamp }: DataValue): boolean {
  return statusCode.value === 0 && sourceTimestamp === null && serverTimestamp === null;
}
