import { fromJson, toJson } from "@bufbuild/protobuf";
import type { CallEnding, CallOrder, FleetPort } from "../../src/contracts/fleet-port.ts";
import type { OpaqueRequest } from "../../src/contracts/operation.ts";
import { methods, openRequest, sealRequest } from "../../src/fleet/operations/row.ts";

/** A request of the real catalogue, from its JSON text. */
function sealedJson(operation: string, requestJson: string): OpaqueRequest {
  const method = methods.get(operation);
  if (method === undefined) throw new Error(`there is no operation ${operation}`);
  return sealRequest(method, fromJson(method.desc.input, JSON.parse(requestJson)));
}

/** The operation and the JSON text of a request of the real catalogue. */
export function openedJson(request: OpaqueRequest): {
  readonly operation: string;
  readonly requestJson: string;
} {
  const opened = openRequest(request);
  if (opened === null) throw new Error("the request is of no operation");
  const { method, message } = opened;
  return { operation: method.name, requestJson: JSON.stringify(toJson(method.desc.input, message)) };
}

/** A fleet port for tests that write requests as JSON text. */
export interface JsonPort {
  call(
    operation: string,
    requestJson: string,
    deadlineMs: number,
    leaveWithinMs?: number,
    order?: CallOrder,
  ): Promise<CallEnding>;
}

export function jsonPort(port: FleetPort): JsonPort {
  return {
    call: (operation, requestJson, ...times) => port.call(sealedJson(operation, requestJson), ...times),
  };
}
