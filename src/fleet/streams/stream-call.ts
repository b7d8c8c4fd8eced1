import { type Metadata, status } from "@grpc/grpc-js";
import { grpcCodeNames } from "../../domain/errors.ts";
import { asIs, authorization, isNoGrpc, withoutStack } from "../channels/grpc-js.ts";
import type { StreamPermit } from "../channels/pooled-connection.ts";
import { serviceText } from "../error-text.ts";
import type { StreamEnding } from "./stream-ending.ts";

/** One call of a server stream, from its start to its end. */
export interface StreamCall {
  /** Resolves with true at the first sign that the service accepts it, with false if it ended before. */
  readonly accepted: Promise<boolean>;
  /** Resolves when either side has ended it. Never rejects. */
  readonly ended: Promise<StreamEnding>;
  /** Ends it; no message is delivered after this. */
  cancel(): void;
}

/** What a stream needs to be opened. */
export interface StreamRequest {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * Opens a stream with `permit`, which is released when the stream ends. Messages are handed over
 * synchronously as they arrive, without a promise for each.
 */
export function openStream(
  request: StreamRequest,
  jwt: string,
  permit: StreamPermit,
  onMessage: (bytes: Buffer) => void,
): StreamCall {
  const stream = withoutStack(() =>
    permit.client.makeServerStreamRequest(request.path, asIs, asIs, request.bytes, authorization(jwt)),
  );
  let isOpen = true;
  let accept: (accepted: boolean) => void = () => {};
  const accepted = new Promise<boolean>((resolve) => {
    accept = resolve;
  });
  stream.on("metadata", (metadata: Metadata) => {
    // The headers of a balancer's page are no sign of the service.
    if (!String(metadata.get("content-type")[0]).startsWith("application/grpc")) return;
    permit.proven();
    accept(true);
  });
  stream.on("data", (bytes: Buffer) => {
    if (!isOpen) return;
    permit.proven();
    accept(true);
    onMessage(bytes);
  });
  // Every ending, this one too, also arrives as a status.
  stream.on("error", () => {});
  const ended = new Promise<StreamEnding>((resolve) => {
    stream.on("status", ({ code, details }) => {
      isOpen = false;
      permit.release();
      accept(false);
      resolve(endingOf(code, serviceText(details)));
    });
  });
  return {
    accepted,
    ended,
    cancel() {
      isOpen = false;
      stream.cancel();
    },
  };
}

/** A balancer before the service may judge a token, but no robot. */
function endingOf(code: number, details: string): StreamEnding {
  if (isNoGrpc(details) && code !== status.UNAUTHENTICATED) return { code: "UNAVAILABLE", message: details };
  const message = code === status.OK && details === "" ? "the service ended the stream" : details;
  return { code: grpcCodeNames[code] ?? grpcCodeNames[status.UNKNOWN], message };
}
