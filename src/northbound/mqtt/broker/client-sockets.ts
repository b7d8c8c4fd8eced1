import type { Socket } from "node:net";
import type { Clock } from "../../../platform/clock.ts";
import { createLineBudget } from "../../../platform/line-budget.ts";
import type { Log } from "../../../platform/log.ts";
import { type ClientLimits, createClientLimits, createFrameLimit } from "./client-limits.ts";
import { readAllAtOnce } from "./read-all.ts";
import { createSlowClients, type SlowClients } from "./slow-clients.ts";

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
