import type { Socket } from "node:net";
import { type Clock, every } from "../../../platform/clock.ts";

/**
 * aedes waits for a client whose socket is full, and the deliveries to all others wait with it. Here a write
 * never makes aedes wait; a client that does not read is disconnected instead.
 */
export interface SlowClients {
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
export function createSlowClients(clock: Clock, signal: AbortSignal): SlowClients {
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
