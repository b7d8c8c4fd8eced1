import { type StatusCode, StatusCodes } from "node-opcua";
import type { Account } from "../security.ts";
import { addParameter, type Parameter, type ParameterPlace } from "./parameter.ts";
import { numberKind } from "./parameter-kind.ts";
import type { Writer } from "./writer.ts";

const anyNumber = numberKind(() => true);

/**
 * A number that the PLC changes as long as its program runs. Only a change is a sign of life, because a
 * driver repeats the same number for ever. The first number of a session does not count: a driver that
 * connects again writes the last number of a program that may have stopped.
 *
 * @param onChange called when a session has changed its number
 */
export function addHeartbeat(place: ParameterPlace, onChange: (account: Account) => void): Parameter {
  const number = addParameter(place, "Heartbeat", anyNumber);
  return {
    path: number.path,
    forget: (sessionId) => number.forget(sessionId),
    isFree: true,
    write(variant, range, writer: Writer): StatusCode {
      const before = number.value(writer.sessionId);
      const status = number.write(variant, range, writer);
      const isChange = before !== undefined && number.value(writer.sessionId) !== before;
      if (status === StatusCodes.Good && isChange) onChange(writer.account);
      return status;
    },
  };
}
