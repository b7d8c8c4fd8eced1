import type {
  DescMessage,
  DescMethod,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { World } from "../world/world.ts";
import type { Confirmation } from "./confirmation.ts";
import type { Caller } from "./contract.ts";
import type { Ownership } from "./ownership.ts";
import type { WorldDriver } from "./world-driver.ts";

/** One call under way. */
export interface Call {
  readonly operation: string;
  readonly caller: Caller;
  /** The name of the call in the record, as the cause of an effect. */
  readonly by: string;
}

/** What the operations share. */
export interface CallParts {
  readonly world: World;
  readonly driver: WorldDriver;
  readonly ownership: Ownership;
  readonly confirmation: Confirmation;
}

/** The owner of what is started through this interface (docs/internals/service.md, TRN-44). */
export const API_OWNER = "api";

/** An operation and its implementation, without its types, so that all fit in one table. */
export interface CallHandler {
  readonly method: DescMethod;
  handle(call: Call, request: unknown): Promise<unknown>;
}

/** Pairs an operation with its implementation. `handle` throws or rejects with a Refusal. */
export function handler<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  handle: (call: Call, request: MessageShape<I>) => Promise<MessageInitShape<O>>,
): CallHandler {
  // The dispatcher looks handlers up by their own method, so the request has its input type.
  return { method, handle: async (call, request) => handle(call, request as MessageShape<I>) };
}
