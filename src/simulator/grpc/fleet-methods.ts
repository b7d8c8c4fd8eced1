import {
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Clock } from "../../platform/clock.ts";
import { messageOf } from "../../platform/error-text.ts";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import type { Tokens } from "../auth/token.ts";
import { Refusal } from "../refusal.ts";
import type { FleetOperations, StreamMessage } from "../service/contract.ts";
import type { GrpcMethod } from "./response.ts";

export interface FleetMethodOptions {
  readonly tokens: Tokens;
  readonly operations: FleetOperations;
  readonly clock: Clock;
  /** After this a stream is ended, in milliseconds (docs/internals/service.md, TRN-59: 60 minutes). */
  readonly streamLifeMs: number;
  /** Delivers to a subscriber through the stream faults, which drop, repeat and reorder. */
  shape(stream: string, deliver: (message: StreamMessage) => void): (message: StreamMessage) => void;
}

/**
 * Every method of FleetService, under each of the service names: messages carry no names, so nothing else
 * differs.
 */
export function fleetMethods(
  serviceNames: readonly string[],
  options: FleetMethodOptions,
): ReadonlyMap<string, GrpcMethod> {
  const table = new Map<string, GrpcMethod>();
  for (const method of FleetService.methods) {
    const served = serve(method, options);
    for (const name of serviceNames) table.set(`/${name}/${method.name}`, served);
  }
  return table;
}

function serve(method: DescMethod, options: FleetMethodOptions): GrpcMethod {
  // The library's type of a method does not narrow by its kind, hence the casts.
  switch (method.methodKind) {
    case "unary":
      return unary(method as DescMethodUnary, options);
    case "server_streaming":
      return stream(method as DescMethodServerStreaming, options);
    default:
      throw new Error(`${method.name} is of a kind that the service document does not have`);
  }
}

function unary<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { tokens, operations }: FleetMethodOptions,
): GrpcMethod {
  return {
    kind: "unary",
    async answer(request, headers) {
      const caller = await tokens.verify(headers.authorization);
      const answer = await operations.call(method, caller, decode(method.input, request));
      return toBinary(method.output, answer);
    },
  };
}

function stream<I extends DescMessage, O extends DescMessage>(
  method: DescMethodServerStreaming<I, O>,
  options: FleetMethodOptions,
): GrpcMethod {
  const { tokens, operations, clock, streamLifeMs } = options;
  return {
    kind: "stream",
    async open(request, headers, response) {
      const caller = await tokens.verify(headers.authorization);
      const decoded = decode(method.input, request);
      if (response.isClosed()) return;
      const deliver = options.shape(method.name, (message) => response.write(message.bytes()));
      response.onClosed(operations.subscribe(method, caller, decoded, deliver));
      response.open();
      response.onClosed(clock.after(streamLifeMs, () => response.end("OK", "")));
    },
  };
}

function decode<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  try {
    return fromBinary(schema, bytes);
  } catch (error) {
    const reason = messageOf(error);
    throw new Refusal("INVALID_ARGUMENT", `the request is no ${schema.name}: ${reason}`);
  }
}
