import type { Socket } from "node:net";
import { clip } from "../../domain/clip.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { createIdleConnections } from "../../platform/idle-connections.ts";
import type { Log } from "../../platform/log.ts";
import { createStretch } from "../../platform/stretch.ts";
import { createFrameLimit } from "./frame-limit.ts";

/**
 * The connections of the embedded broker's clients. aedes waits for a client whose
 * socket is full, and everybody else's deliveries wait with it; so here a write
 * never makes it wait, and a client that does not read is cut off instead.
 */
export interface ClientSockets {
  /** A connection from which no CONNECT has come; too many of them close each other. */
  knock(socket: Socket): void;
  /** The same connection, under TLS where there is some: from now on it is looked after. */
  add(socket: Socket, knocked: Socket): void;
  /** It has logged in under this name; false when there are too many already, of that name or in all. */
  admit(socket: Socket, user: string): boolean;
  /** Why connections are refused or closed; null when none was within the last half minute. */
  problem(): string | null;
  /** Calls back once a socket has room for one more retained message; never when it closes before. */
  whenRoom(socket: Socket, proceed: () => void): void;
  /** Takes nothing more to send and resolves when everything was sent and read, or the time is up. */
  end(deadlineMs: number): Promise<void>;
  figures(): {
    readonly clients: number;
    readonly clientsRefused: number;
    readonly clientsCutOff: number;
    readonly unfinished: number;
    readonly unfinishedClosed: number;
    readonly backlogBytes: number;
  };
}

const CLIENTS = 500;
/** Of them, under one name: nobody can take all places. */
const CLIENTS_A_USER = 250;
/** Connections that have sent no CONNECT yet. */
const UNFINISHED = 100;
/** Of a user's name, in a log line. */
const LONGEST_NAME = 128;
const PACKET_LIMIT_BYTES = 320 * 1024;
/** What may wait for one client: some seconds of a large fleet at its busiest. */
const BACKLOG_LIMIT_BYTES = 4 * 1024 * 1024;
/** What may wait for all of them; beyond it the one with the longest backlog goes. */
const ALL_BACKLOGS_LIMIT_BYTES = 64 * 1024 * 1024;
/** A client that reads nothing of what waits for it for so long is gone. */
const STALL_LIMIT_MS = 10_000;
const LOOK_PERIOD_MS = 1_000;
/** Retained messages at a subscription wait for the client: only news are written regardless. */
const REPLAY_BACKLOG_BYTES = 64 * 1024;

/** How far a client has read, and since when it has not. */
interface Progress {
  sentBytes: number;
  sinceMs: number;
}

/** Looks after the sockets until the signal is aborted; `end` goes on after that. */
export function createClientSockets(clock: Clock, log: Log, signal: AbortSignal): ClientSockets {
  const sockets = new Map<Socket, Progress>();
  const users = new Map<Socket, string>();
  let clientsCutOff = 0;
  let clientsRefused = 0;
  let reason = "";
  const refusing = createStretch(clock, () => log.info({}, "no MQTT connection is refused any more"));
  const unfinished = createIdleConnections(UNFINISHED, (address) =>
    note(`more than ${UNFINISHED} connections have sent no CONNECT: the oldest are closed for new ones`, {
      address,
    }),
  );

  function note(problem: string, fields: Readonly<Record<string, string>>): void {
    reason = problem;
    if (refusing.note()) log.warn(fields, problem);
  }

  function cutOff(socket: Socket, why: string): void {
    if (socket.destroyed) return;
    clientsCutOff += 1;
    socket.destroy(new Error(`cut off, because it does not read: ${why}`));
  }

  /** Whatever the socket says, aedes is told to go on. */
  function neverBlock(socket: Socket): void {
    const { write } = socket;
    socket.write = (...parts: readonly unknown[]) => {
      // An error of ours: it would take with it what is still to be sent.
      if (socket.writableEnded) return true;
      Reflect.apply(write, socket, parts);
      if (socket.writableLength > BACKLOG_LIMIT_BYTES)
        cutOff(socket, `more than ${BACKLOG_LIMIT_BYTES} bytes wait for it`);
      return true;
    };
  }

  function look(): void {
    const nowMs = clock.monotonicMs();
    let longest: Socket | null = null;
    for (const [socket, progress] of sockets) {
      const sentBytes = socket.writableLength === 0 ? 0 : socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || sentBytes !== progress.sentBytes) {
        progress.sentBytes = sentBytes;
        progress.sinceMs = nowMs;
      } else if (nowMs - progress.sinceMs >= STALL_LIMIT_MS) {
        cutOff(socket, `${socket.writableLength} bytes wait for it, none was taken for ${STALL_LIMIT_MS} ms`);
      }
      if (longest === null || socket.writableLength > longest.writableLength) longest = socket;
    }
    if (longest !== null && backlogBytes() > ALL_BACKLOGS_LIMIT_BYTES)
      cutOff(
        longest,
        `more than ${ALL_BACKLOGS_LIMIT_BYTES} bytes wait for all clients, most of them for it`,
      );
  }

  function backlogBytes(): number {
    let bytes = 0;
    for (const socket of sockets.keys()) if (!socket.destroyed) bytes += socket.writableLength;
    return bytes;
  }

  every(clock, LOOK_PERIOD_MS, signal, look);

  return {
    knock: unfinished.add,
    add(socket, knocked) {
      if (socket !== knocked) unfinished.remove(knocked);
      unfinished.add(socket);
      sockets.set(socket, { sentBytes: 0, sinceMs: clock.monotonicMs() });
      socket.once("close", () => {
        sockets.delete(socket);
        users.delete(socket);
      });
      socket.setNoDelay(true);
      limitFrames(socket);
      neverBlock(socket);
    },
    admit(socket, user) {
      unfinished.remove(socket);
      // Counted by socket: aedes' own count drifts when clients take each other's places.
      const ofUser = [...users.values()].filter((name) => name === user).length;
      const problem =
        users.size >= CLIENTS
          ? `${CLIENTS} MQTT clients are connected: no more are let in`
          : ofUser >= CLIENTS_A_USER
            ? `${CLIENTS_A_USER} MQTT clients of one user are connected: no more of it are let in`
            : null;
      if (problem === null) {
        users.set(socket, user);
        return true;
      }
      clientsRefused += 1;
      note(problem, { user: clip(user, LONGEST_NAME) });
      return false;
    },
    problem: () => (refusing.isOn() ? reason : null),
    whenRoom(socket, proceed) {
      if (socket.writableLength < REPLAY_BACKLOG_BYTES) return proceed();
      socket.once("drain", () => {
        // aedes says drain itself when it closes a client.
        if (!socket.destroyed && socket.writableLength < REPLAY_BACKLOG_BYTES) proceed();
      });
    },
    async end(deadlineMs) {
      const open = [...sockets.keys()];
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
      for (const socket of sockets.keys()) socket.destroy();
    },
    figures() {
      const { idle, closed } = unfinished.figures();
      return {
        clients: users.size,
        clientsRefused,
        clientsCutOff,
        unfinished: idle,
        unfinishedClosed: closed,
        backlogBytes: backlogBytes(),
      };
    },
  };
}

/** aedes pulls with read(): what it gets is looked at on the way. */
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
