import { type StatusCode, StatusCodes } from "node-opcua";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import type { Account } from "../security.ts";
import { addNumberParameter, type Parameter } from "./parameter.ts";
import type { Writer } from "./writer.ts";

/**
 * A number that the PLC changes as long as its program runs. Only a change is a sign of life: a driver
 * repeats the same number for ever.
 *
 * @param onBeat `isChange` is false for the first number of a session: a driver that connects again writes
 *   the last one of a program that may have stopped
 */
export function addHeartbeat(
  builder: NodeBuilder,
  folder: Folder,
  onBeat: (account: Account, isChange: boolean) => void,
): Parameter {
  const number = addNumberParameter({ builder, folder, latched: null }, "Heartbeat", () => true);
  return {
    path: number.path,
    echo() {},
    forget: number.forget,
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
