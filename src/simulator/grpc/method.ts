import type { IncomingHttpHeaders } from "node:http2";
import type { Response } from "./response.ts";

/** The implementation of one method: bytes in, bytes out. Throws or rejects with a Refusal. */
export type GrpcMethod =
  | {
      readonly kind: "unary";
      answer(request: Uint8Array, headers: IncomingHttpHeaders): Promise<Uint8Array>;
    }
  | {
      /** One request, then messages until the response is ended. */
      readonly kind: "stream";
      open(request: Uint8Array, headers: IncomingHttpHeaders, response: Response): Promise<void>;
    }
  | {
      /** An answer to each request, for as long as the caller asks. */
      readonly kind: "dialogue";
      answer(request: Uint8Array): Uint8Array;
    };

/** Methods by their path, `/package.Service/Method`. */
export type MethodTable = ReadonlyMap<string, GrpcMethod>;
