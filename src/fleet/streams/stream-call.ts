import { type Metadata, status } from "@grpc/grpc-js";
import { type GrpcCodeName, grpcCodeNames } from "../../domain/errors.ts";
import type { RandomSource } from "../../platform/backoff.ts";
import { type Clock, noLaterThan } from "../../platform/clock.ts";
import { createTurnTime } from "../../platform/loop-time.ts";
import { onAbort } from "../../platform/on-abort.ts";
import { asIs, authorization, isNoGrpc, withoutStack } from "../channels/grpc-js.ts";
import type { StreamPermit } from "../channels/pooled-connection.ts";
import type { StreamPool } from "../channels/stream-pool.ts";
import { serviceText } from "../error-text.ts";
import type { FleetTimes } from "../options.ts";
import type { Session } from "../session/session.ts";
import type { QuietLimit } from "./renewal-wait.ts";

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

/** One for all streams: they share one event loop. */
const turn = createTurnTime();

/**
 * Opens a stream with `permit`, which is released when the stream ends. Messages are handed over
 * synchronously as they arrive, without a promise for each. What arrived while the event loop was busy is
 * handed over in several turns: a socket's buffer has hundreds of messages.
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
  let isPaused = false;
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
    if (!turn.isOver()) return;
    isPaused = true;
    stream.pause();
    turn.inNextTurn(() => {
      isPaused = false;
      stream.resume();
    });
  });
  // Every ending, this one too, also arrives as a status.
  stream.on("error", () => {});
  const ended = new Promise<StreamEnding>((resolve) => {
    stream.on("status", ({ code, details }) => {
      // What a pause holds back has come before: each read hands one over.
      while (isPaused && isOpen && stream.read() !== null);
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

/** The result of opening a call. */
export type Opening =
  | { readonly kind: "taken" }
  | { readonly kind: "ended"; readonly ending: StreamEnding }
  | { readonly kind: "aborted" };

/** A call that the service has accepted. Calls of a subscription are numbered upwards. */
export interface OpenCall {
  readonly number: number;
  readonly stream: StreamCall;
  readonly permit: StreamPermit;
  /** Monotonic time of its last message, or of its begin. */
  receivedAtMs(): number;
}

export interface SubscriptionDependencies {
  readonly pool: StreamPool;
  readonly session: Session;
  readonly times: FleetTimes;
  readonly quiet: QuietLimit;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Called with what becomes of a call. */
export interface CallListener {
  /**
   * The call leaves now.
   *
   * @returns its number
   */
  begin(): number;
  /** The service has accepted the call. */
  taken(call: OpenCall): void;
  receive(bytes: Buffer, call: number): void;
  /** The call's connection accepts no new calls, and may be closed soon. */
  leaving(call: number): void;
  /**
   * The call ended, and not because the signal was aborted. `isSilent`: it was given up, because its
   * connection was silent for too long.
   */
  ended(call: number, ending: StreamEnding, isSilent: boolean): void;
}

/**
 * Opens one call, which lives until the signal is aborted. First waits for a token and a connection. The
 * service has `connectMs` to accept it.
 */
export async function openCall(
  request: StreamRequest,
  listener: CallListener,
  { pool, session, clock, times: { connectMs } }: SubscriptionDependencies,
  signal: AbortSignal,
): Promise<Opening> {
  const jwt = await session.authorized(signal);
  if (jwt === null) return { kind: "aborted" };
  const holder = { leaving: () => {}, silent: () => {} };
  const permit = await pool.acquire(holder, signal);
  if (permit === null) return { kind: "aborted" };
  const number = listener.begin();
  let receivedAtMs = clock.monotonicMs();
  let isSilent = false;
  const stream = openStream(request, jwt, permit, (bytes) => {
    receivedAtMs = clock.monotonicMs();
    listener.receive(bytes, number);
  });
  holder.leaving = () => listener.leaving(number);
  holder.silent = () => {
    isSilent = true;
    stream.cancel();
  };
  const unlisten = onAbort(signal, () => stream.cancel());
  let over: StreamEnding | null = null;
  void stream.ended.then((ending) => {
    over = ending;
    unlisten();
    // Also after its headers, or while it was open. The next call waits for the other token.
    if (ending.code === "UNAUTHENTICATED") void session.replace(jwt, signal);
    if (!signal.aborted) listener.ended(number, ending, isSilent);
  });
  const ending = (await endingBeforeTaken(stream, permit, clock, connectMs)) ?? over;
  if (ending === null) {
    listener.taken({ number, stream, permit, receivedAtMs: () => receivedAtMs });
    return { kind: "taken" };
  }
  return { kind: "ended", ending };
}

/** Null: the service has accepted the call. */
async function endingBeforeTaken(
  stream: StreamCall,
  permit: StreamPermit,
  clock: Clock,
  connectMs: number,
): Promise<StreamEnding | null> {
  const first = await noLaterThan(clock, connectMs, stream.accepted, "late" as const);
  if (first === true) return null;
  if (first === false) return stream.ended;
  // A server that has nothing to send yet need not answer a stream. But if it leaves a plain call unanswered
  // too, the stream waits in a hidden queue of grpc-js.
  if (await permit.prove()) return null;
  permit.unanswered();
  stream.cancel();
  return { code: "UNAVAILABLE", message: `no answer within ${connectMs} ms` };
}

/** The ending of a stream. `message` is the service's or grpc-js's own text. */
export interface StreamEnding {
  readonly code: GrpcCodeName;
  readonly message: string;
}

const refusals: ReadonlySet<GrpcCodeName> = new Set(["INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED"]);

/** Whether the service refuses the request, and is not just unable to serve it. */
export function isRefusal(ending: StreamEnding): boolean {
  return refusals.has(ending.code);
}

/** Whether the same request would fail again soon. */
export function isFutile(ending: StreamEnding): boolean {
  return isRefusal(ending) || ending.code === "UNIMPLEMENTED";
}
