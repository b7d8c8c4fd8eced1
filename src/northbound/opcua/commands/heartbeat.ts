import { type StatusCode, StatusCodes } from "node-opcua";
import type { Account } from "../security.ts";
import { addParameter, type Parameter, type ParameterPlace } from "./parameter.ts";
import { numberKind } from "./parameter-kind.ts";
import type { Writer } from "./writer.ts";

const beats = numberKind(() => true);

/**
 * A number that the PLC changes as long as its program runs. Only a change is a sign of life: a driver
 * repeats the same number for ever.
 *
 * @param onBeat `isChange` is false for the first number of a session: a driver that connects again writes
 *   the last one of a program that may have stopped
 */
export function addHeartbeat(
  place: Omit<ParameterPlace, "latched">,
  onBeat: (account: Account, isChange: boolean) => void,
): Parameter {
  const number = addParameter({ ...place, latched: null }, "Heartbeat", beats);
  return {
    path: number.path,
    echo() {},
    forget: (sessionId) => number.forget(sessionId),
    isFree: true,
    write(variant, range, writer: Writer): StatusCode {
      const before = number.value(writer.sessionId);
      const status = number.write(variant, range, writer);
      if (status === StatusCodes.Good && number.value(writer.sessionId) !== before) {
        onBeat(writer.account, before !== undefined);
      }
      return status;
    },
  };
}
