import { Server, type Socket } from "node:net";
import { type OPCUAServer, StatusCodes } from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import { describeError, type Log } from "../../../platform/log.ts";
import { containRejections } from "./containment.ts";
import { errorFrame } from "./error-frame.ts";
import { createFrameCheck } from "./frame-check.ts";
import { describeLibraryError } from "./library-log.ts";
import { reportOldPins } from "./old-pins.ts";
import { answerUndecodable } from "./undecodable-requests.ts";
import { createUnfinishedRequests } from "./unfinished-requests.ts";

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
  timeRequest: (task: () => void) => void = (task) => task(),
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
    const check = createFrameCheck(
      (bytes) => {
        if (isClosed || socket.destroyed) return;
        pause = pauseThis;
        try {
          seeOpening(bytes);
          timeRequest(() => void emit("data", bytes));
        } catch (error) {
          close("BadTcpInternalError", describeLibraryError(error));
        } finally {
          pause = null;
        }
      },
      held.holds,
      () => {
        stopWaiting();
        opening = Buffer.alloc(0);
      },
    );
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
    const listener: unknown = Reflect.get(endpoint, "_server");
    if (!(listener instanceof Server)) throw new Error("node-opcua keeps its listener elsewhere now");
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
