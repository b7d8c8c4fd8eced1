import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, every } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { createLineBudget } from "../../../platform/log-bounds.ts";
import { type ClientLimits, createClientLimits, createFrameLimit } from "./client-limits.ts";

/** The connections of the embedded broker's clients, with the bounds that aedes lacks (README.md). */
export interface ClientSockets {
  readonly limits: ClientLimits;
  readonly slow: SlowClients;
  /** A connection for aedes. With TLS, `raw` is the TCP socket that `limits.connected` was called with. */
  add(socket: Socket, raw: Socket): void;
  /** Sends nothing more. Resolves when everything was sent and read, or after `deadlineMs`. */
  end(deadlineMs: number): Promise<void>;
  figures(): Readonly<Record<string, number>>;
}

const PACKET_LIMIT_BYTES = 320 * 1024;

/**
 * Watches the sockets until the signal is aborted; `end` may be called after that. `users` returns the
 * present users of the configuration.
 */
export function createClientSockets(
  clock: Clock,
  log: Log,
  users: () => readonly string[],
  signal: AbortSignal,
): ClientSockets {
  const sockets = new Set<Socket>();
  const limits = createClientLimits(clock, log, users);
  const slow = createSlowClients(clock, signal);

  return {
    limits,
    slow,
    add(socket, raw) {
      if (socket !== raw) limits.replaced(raw);
      limits.connected(socket);
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      socket.setNoDelay(true);
      readAllAtOnce(socket);
      limitFrames(socket);
      slow.watch(socket);
    },
    async end(deadlineMs) {
      const open = [...sockets];
      const allClosed = Promise.all(
        open.map((socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()))),
      );
      for (const socket of open) socket.end();
      await new Promise<void>((resolve) => {
        const cancel = clock.after(deadlineMs, resolve);
        void allClosed.then(() => {
          cancel();
          resolve();
        });
      });
      for (const socket of sockets) socket.destroy();
    },
    figures: () => ({
      ...limits.figures(),
      clientsDisconnected: slow.disconnected(),
      backlogBytes: slow.backlogBytes(),
    }),
  };
}

/** aedes pulls its bytes by `read`: they are checked there. */
function limitFrames(socket: Socket): void {
  const fits = createFrameLimit(PACKET_LIMIT_BYTES);
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const chunk: Uint8Array | null = read(size);
    if (chunk === null || fits(chunk)) return chunk;
    socket.destroy(new Error(`an MQTT packet of more than ${PACKET_LIMIT_BYTES} bytes`));
    return null;
  };
}

/** Logs failed connections, within bounds: clients without a log-in can make any number of them. */
export interface ConnectionLog {
  /** Its address is read later, when it may be closed. */
  opened(socket: object): void;
  failed(socket: object, fields: Readonly<Record<string, string>>, message: string): void;
}

const BOUNDS = { most: 10, windowMs: 60_000 };

export function createConnectionLog(clock: Clock, log: Log): ConnectionLog {
  const addresses = new WeakMap<object, string>();
  const budget = createLineBudget(clock, BOUNDS, (count) =>
    log.info({ count }, "more MQTT connections have failed within a minute than the log names"),
  );
  return {
    opened(socket) {
      addresses.set(socket, addressIn(socket));
    },
    failed(socket, fields, message) {
      if (budget.take()) log.info({ from: addresses.get(socket) ?? addressIn(socket), ...fields }, message);
    },
  };
}

/** Empty: not known, or the gateway's own stream. */
function addressIn(socket: object): string {
  // Node has no public name for the socket below a TLS one. When both are closed, only that one knows its
  // address.
  const below: unknown = Reflect.get(socket, "_parent");
  const address =
    (socket as Partial<Socket>).remoteAddress ?? (below as Partial<Socket> | null)?.remoteAddress;
  return address ?? "";
}

/**
 * aedes waits for a client whose socket is full, and the deliveries to all others wait with it. Here a write
 * never makes aedes wait; a client that does not read is disconnected instead.
 */
interface SlowClients {
  /** Watches this socket until it closes. */
  watch(socket: Socket): void;
  /** Calls `proceed` when the socket has room for one more retained message; never if it closes before. */
  whenRoom(socket: Socket, proceed: () => void): void;
  /** Ends the connection of a client that delays others. */
  disconnect(socket: Socket, reason: string): void;
  /** Bytes that wait for all clients. */
  backlogBytes(): number;
  /** How many clients were disconnected because they did not read, or did not acknowledge. */
  disconnected(): number;
}

/** Bytes that may wait for one client: some seconds of a large fleet at its busiest. */
const BACKLOG_LIMIT_BYTES = 4 * 1024 * 1024;
/** Bytes that may wait for all of them; above it the client with the longest backlog is disconnected. */
const ALL_BACKLOGS_LIMIT_BYTES = 64 * 1024 * 1024;
/** A client that takes none of its backlog for this long is disconnected. */
const STALL_LIMIT_MS = 10_000;
const CHECK_PERIOD_MS = 1_000;
/** A new subscription's retained messages are held back above this; current values are always written. */
const REPLAY_BACKLOG_BYTES = 64 * 1024;

/** How many bytes a client has taken, and since when it has taken no more. */
interface Progress {
  sentBytes: number;
  sinceMs: number;
}

/** Checks all watched sockets once a second until the signal is aborted. */
function createSlowClients(clock: Clock, signal: AbortSignal): SlowClients {
  const sockets = new Map<Socket, Progress>();
  let disconnected = 0;

  function disconnect(socket: Socket, reason: string): void {
    if (socket.destroyed) return;
    disconnected += 1;
    socket.destroy(new Error(`disconnected: ${reason}`));
  }

  function neverBlock(socket: Socket): void {
    const { write } = socket;
    socket.write = (...parts: readonly unknown[]) => {
      // A write after the end is an error that would discard the unsent rest.
      if (socket.writableEnded) return true;
      Reflect.apply(write, socket, parts);
      if (socket.writableLength > BACKLOG_LIMIT_BYTES)
        disconnect(socket, `it does not read, more than ${BACKLOG_LIMIT_BYTES} bytes wait for it`);
      return true;
    };
  }

  function checkProgress(socket: Socket, progress: Progress, nowMs: number): void {
    const waitingBytes = socket.writableLength;
    const sentBytes = waitingBytes === 0 ? 0 : socket.bytesWritten - waitingBytes;
    if (waitingBytes === 0 || sentBytes !== progress.sentBytes) {
      progress.sentBytes = sentBytes;
      progress.sinceMs = nowMs;
    } else if (nowMs - progress.sinceMs >= STALL_LIMIT_MS) {
      disconnect(
        socket,
        `it does not read, of ${waitingBytes} bytes none was taken for ${STALL_LIMIT_MS} ms`,
      );
    }
  }

  function backlogBytes(): number {
    let bytes = 0;
    for (const socket of sockets.keys()) if (!socket.destroyed) bytes += socket.writableLength;
    return bytes;
  }

  every(clock, CHECK_PERIOD_MS, signal, () => {
    let longest: Socket | null = null;
    for (const [socket, progress] of sockets) {
      checkProgress(socket, progress, clock.monotonicMs());
      if (longest === null || socket.writableLength > longest.writableLength) longest = socket;
    }
    if (longest === null || backlogBytes() <= ALL_BACKLOGS_LIMIT_BYTES) return;
    disconnect(
      longest,
      `it does not read, more than ${ALL_BACKLOGS_LIMIT_BYTES} bytes wait for all clients, most for it`,
    );
  });

  return {
    watch(socket) {
      sockets.set(socket, { sentBytes: 0, sinceMs: clock.monotonicMs() });
      socket.once("close", () => sockets.delete(socket));
      neverBlock(socket);
    },
    whenRoom(socket, proceed) {
      if (socket.writableLength < REPLAY_BACKLOG_BYTES) return proceed();
      socket.once("drain", () => {
        // aedes emits drain itself when it closes a client.
        if (!socket.destroyed && socket.writableLength < REPLAY_BACKLOG_BYTES) proceed();
      });
    },
    disconnect,
    backlogBytes,
    disconnected: () => disconnected,
  };
}

/**
 * Makes `read()` return all waiting bytes, as before Node 26, which returns one chunk at a time. aedes 1.2.0
 * reads once for each `readable` event, and would never get the other chunks.
 */
export function readAllAtOnce(stream: Duplex): void {
  const read = stream.read.bind(stream);
  stream.read = (size?: number) => {
    if (typeof size === "number") return read(size);
    const chunks: Uint8Array[] = [];
    for (let chunk: Uint8Array | null = read(); chunk !== null; chunk = read()) chunks.push(chunk);
    return chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? null);
  };
}
