import { createHash } from "node:crypto";
import type { Server, Socket } from "node:net";
import { AsymmetricAlgorithmSecurityHeader, BinaryStream, type OPCUAServer, StatusCodes } from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import { describeError } from "../../../platform/error-text.ts";
import type { Log } from "../../../platform/log.ts";
import { nameOfClient } from "../client-certificates.ts";
import { createRefusalLog } from "./client-refusals.ts";
import { listenerOf } from "./endpoint-start.ts";
import { createFrameCheck, errorFrame, passInTurns } from "./frame-check.ts";
import { describeLibraryError } from "./library-log.ts";
import { wrap } from "./lower.ts";
import { answerUndecodable } from "./undecodable-requests.ts";
import { createUnfinishedRequests } from "./unfinished-requests.ts";

/** Clients that open a secure channel with another certificate than the server's. */
export interface OldPins {
  readonly count: number;
  /** Checks a frame that opens a secure channel (OPC UA part 6, 6.7.2). */
  see(frame: Buffer, from: string): void;
}

/** Message type, chunk flag, length and channel (OPC UA part 6, 6.7.2.2). */
const HEADER_BYTES = 12;
const DO = "let the client trust and use the gateway's certificate of now, and remove the old one there";

/**
 * Counts and logs clients that have kept an old certificate of the server. node-opcua 2.182 cannot decrypt
 * their messages, or refuses them, and reports no name. For an initialised server.
 */
function reportOldPins(server: OPCUAServer, clock: Clock, log: Log): OldPins {
  const refusals = createRefusalLog(
    clock,
    log,
    "more OPC UA clients were refused because they have kept an old certificate of the gateway",
  );
  return {
    get count() {
      return refusals.count;
    },
    see(frame, from) {
      const header = headerOf(frame);
      if (header === null) return;
      const { senderCertificate, receiverCertificateThumbprint: wanted } = header;
      if (!senderCertificate?.length || !wanted?.length) return;
      const own = createHash("sha1").update(server.getCertificate()).digest();
      if (own.equals(wanted)) return;
      const expects = wanted.subarray(0, own.length).toString("hex");
      const client = { ...nameOfClient(senderCertificate), from };
      const why = "it has kept another certificate of the gateway than the one of now";
      const fields = { ...client, expects, gatewayHas: own.toString("hex"), why, do: DO };
      refusals.note(`${client.thumbprint} ${from} ${expects}`, fields);
    },
  };
}

/** Null: it cannot be read. node-opcua refuses it. */
function headerOf(frame: Buffer): AsymmetricAlgorithmSecurityHeader | null {
  try {
    const header = new AsymmetricAlgorithmSecurityHeader();
    header.decode(new BinaryStream(frame.subarray(HEADER_BYTES)));
    return header;
  } catch {
    return null;
  }
}

/** Checks all bytes between the network and node-opcua. */
export interface Fence {
  /** Connections that were closed because of their bytes, and requests that could not be decoded. */
  figures(): { readonly connectionsClosed: number; readonly requestsUndecodable: number };
  /** Clients that opened a channel with another certificate than the server's. */
  readonly pinsRefused: number;
  /** Whether every endpoint accepts connections. */
  readonly listening: boolean;
}

/** How long a connection may take to open a secure channel. */
const OPEN_WITHIN_MS = 30_000;

/** How many bytes of its answers a client may leave unread before its connection is no longer read. */
const MOST_UNREAD_BYTES = 1024 * 1024;

/**
 * Pauses the connection whose bytes are being handled in this turn, until the returned function is called.
 */
let pause: (() => () => void) | null = null;

/**
 * Reads nothing more from the connection whose request is being handled, until the returned function is
 * called.
 */
export function pauseReceiving(): () => void {
  return pause?.() ?? (() => {});
}

/** At most one log line in this time, for all connections. */
const LOG_EVERY_MS = 10_000;

/**
 * Passes only possible frames of a client to the stack of an initialised server. node-opcua 2 accepts
 * impossible sizes and types in places, and then throws in a socket's listener, which would end the process.
 * If it throws on what was passed, that one connection is closed.
 */
export function fence(
  server: OPCUAServer,
  clock: Clock,
  log: Log,
  aroundRequest: (task: () => void) => void,
): Fence {
  const unfinished = createUnfinishedRequests(clock);
  const pins = reportOldPins(server, clock, log);
  let closedCount = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;

  function note(from: string | undefined, why: string): void {
    closedCount += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - loggedAtMs < LOG_EVERY_MS) return;
    loggedAtMs = nowMs;
    log.warn({ from, why, closedCount }, "an OPC UA connection was closed");
  }

  function guard(socket: Socket): void {
    const emit = socket.emit.bind(socket);
    let isClosed = false;

    function close(status: keyof typeof refusals, why: string): void {
      if (isClosed) return;
      isClosed = true;
      note(socket.remoteAddress, why);
      // A client that does not read its answers does not get this message either.
      if (socket.writableLength > 0) socket.destroy();
      else socket.end(errorFrame(refusals[status], status), () => socket.destroy());
    }
    const held = unfinished.open((why) => close("BadTcpNotEnoughResources", why));
    const stopWaiting = clock.after(OPEN_WITHIN_MS, () =>
      close("BadTimeout", `no secure channel was asked for within ${OPEN_WITHIN_MS} ms`),
    );
    socket.on("close", () => {
      stopWaiting();
      held.end();
    });
    const pauseThis = pauseOf(socket);
    /** The bytes so far of a frame that opens a channel; null: no such frame is coming. */
    let opening: Buffer | null = null;

    /** Before the stack gets the rest of it, which it decrypts in place. */
    function seeOpening(bytes: Buffer): void {
      if (opening === null) return;
      opening = Buffer.concat([opening, bytes]);
      if (opening.byteLength < opening.readUInt32LE(4)) return;
      pins.see(opening, socket.remoteAddress ?? "");
      opening = null;
    }

    function pass(bytes: Buffer): void {
      if (isClosed || socket.destroyed) return;
      pause = pauseThis;
      try {
        seeOpening(bytes);
        aroundRequest(() => void emit("data", bytes));
      } catch (error) {
        close("BadTcpInternalError", describeLibraryError(error));
      } finally {
        pause = null;
      }
    }
    const check = createFrameCheck(passInTurns(pass, pauseThis), held.holds, () => {
      stopWaiting();
      opening = Buffer.alloc(0);
    });
    function receive(chunk: Buffer): boolean {
      if (isClosed) return true;
      const problem = check(chunk);
      if (problem !== null) close(problem.status, problem.text);
      else if (socket.writableLength > MOST_UNREAD_BYTES) socket.once("drain", pauseThis());
      return true;
    }

    // A listener cannot hide data from later listeners, so the socket emits nothing before the check.
    Object.defineProperty(socket, "emit", {
      value: (event: string | symbol, ...values: unknown[]) =>
        event === "data" && Buffer.isBuffer(values[0]) ? receive(values[0]) : emit(event, ...values),
    });
    // node-opcua listens for errors a turn later, or never if it has too many connections.
    socket.on("error", (error) => log.debug({ cause: describeError(error) }, "an OPC UA connection failed"));
  }

  containRejections(server, (address, error) => note(address, describeLibraryError(error)));
  const undecodable = answerUndecodable(server, clock, log);
  const listeners: Server[] = [];
  for (const endpoint of server.endpoints) {
    const listener = listenerOf(endpoint);
    listener.prependListener("connection", guard);
    listeners.push(listener);
  }
  return {
    figures: () => ({ connectionsClosed: closedCount, requestsUndecodable: undecodable.count }),
    get pinsRefused() {
      return pins.count;
    },
    get listening() {
      return listeners.every((listener) => listener.listening);
    },
  };
}

/** The connection is read again when every pause was ended. */
function pauseOf(socket: Socket): () => () => void {
  let pauses = 0;
  return () => {
    pauses += 1;
    socket.pause();
    return () => {
      pauses -= 1;
      if (pauses === 0) socket.resume();
    };
  };
}

const refusals = {
  BadTcpMessageTypeInvalid: StatusCodes.BadTcpMessageTypeInvalid.value,
  BadTcpMessageTooLarge: StatusCodes.BadTcpMessageTooLarge.value,
  BadTcpInternalError: StatusCodes.BadTcpInternalError.value,
  BadTcpNotEnoughResources: StatusCodes.BadTcpNotEnoughResources.value,
  BadDecodingError: StatusCodes.BadDecodingError.value,
  BadTimeout: StatusCodes.BadTimeout.value,
} as const;

/** A part of a channel that node-opcua calls before it opens the channel or renews its token. */
interface Channel {
  readonly remoteAddress: string;
  close(): void;
  beforeHandleOpenSecureChannelRequest: () => Promise<void>;
}

type Handle = (message: unknown, channel: Channel) => unknown;
type Report = (address: string, error: unknown) => void;

/**
 * Several of node-opcua's handlers are asynchronous, and nothing awaits them: an error that a client causes
 * in them (by a truncated certificate, for example) would end the process as an unhandled rejection. Here it
 * closes the client's channel. For an initialised server that does not listen yet; `report` is called with
 * the error.
 */
function containRejections(server: OPCUAServer, report: Report): void {
  for (const name of requestHandlers(server)) {
    wrap<Handle>(server, name, (handle) => (message, channel) => {
      const handled = handle(message, channel);
      if (handled instanceof Promise) handled.catch(fail(channel, report));
    });
  }
  containActions(server, report);
  for (const endpoint of server.endpoints) {
    endpoint.on("newChannel", (channel: Channel) => {
      const before = channel.beforeHandleOpenSecureChannelRequest.bind(channel);
      channel.beforeHandleOpenSecureChannelRequest = () => contained(before(), fail(channel, report));
    });
  }
}

/** The work of each service, which the handler itself does not await. */
function containActions(server: OPCUAServer, report: Report): void {
  type Act = (response: unknown, message: unknown, channel: Channel, action: unknown) => Promise<void>;
  wrap<Act>(server, "_apply_on_SessionObject", (apply) => {
    return (response, message, channel, action) =>
      apply(response, message, channel, action).catch(fail(channel, report));
  });
}

function fail(channel: Channel, report: Report): (error: unknown) => void {
  return (error) => {
    report(channel.remoteAddress, error);
    channel.close();
  };
}

/**
 * The channel's own work follows this promise by `then`, and nothing follows that: its errors are caught
 * here.
 */
function contained(promise: Promise<void>, onError: (error: unknown) => void): Promise<void> {
  const original = promise.then.bind(promise);
  const then: Promise<void>["then"] = (onDone, onFail) => {
    const next = original(onDone, onFail);
    next.catch(onError);
    return next;
  };
  return Object.assign(promise, { then });
}

/** `_on_ReadRequest` and its like, which node-opcua finds by name for each request. */
function requestHandlers(server: OPCUAServer): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at: object | null = server; at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (/^_on_\w+Request$/.test(name)) names.add(name);
    }
  }
  return names;
}
