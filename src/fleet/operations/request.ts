import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { OpaqueRequest } from "../../contracts/operation.ts";
import { type Method, methodOf } from "./row.ts";

/** A request of the catalogue as a message, with its operation. */
export class FleetRequest {
  readonly method: Method;
  readonly message: Message;

  constructor(method: Method, message: Message) {
    this.method = method;
    this.message = message;
  }
}

/** Wraps a request for its way through modules that do not know messages. */
export function sealRequest(method: Method, message: Message): OpaqueRequest {
  return new FleetRequest(method, message) as unknown as OpaqueRequest;
}

/** Unwraps a request that was sealed here; null for anything else. */
export function openRequest(request: OpaqueRequest): FleetRequest | null {
  return request instanceof FleetRequest ? request : null;
}

/** A sealed request of the gateway's own. */
export function requestOf<Request extends DescMessage>(
  desc: DescMethodUnary<Request>,
  fields: MessageInitShape<Request>,
): OpaqueRequest {
  return sealRequest(methodOf(desc), create(desc.input, fields));
}
