import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/**
 * A wire that goes dead, as a network does that drops packets: nothing is closed, and what was sent meanwhile
 * arrives when it is healed, whether its sender is still there or not, unless it has reset its connection.
 */
export interface LateWire {
  readonly port: number;
  /** @param dropsFrom whether what this client sends, by its port, is dropped; every client unless told */
  die(dropsFrom?: (clientPort: number) => boolean): void;
  /** What clients send arrives, and the answers do not. */
  mute(): void;
  /** Resolves when something waits, or when something that waited was taken back by a reset. */
  next(what: "held" | "reset"): Promise<void>;
  /**
   * Delivers all that waits, in its order. The packets of a client come one after the other: a call that it
   * has canceled meanwhile arrives before its cancellation. Resolves with the bytes that arrive late.
   */
  heal(): Promise<number>;
  close(): Promise<void>;
}

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  /** Those whose bytes do not arrive. */
  readonly silent: Set<Socket>;
  /** What waits for the wire to be healed, in order. */
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly from: Socket;
  /** @returns how many bytes it delivers */
  readonly act: () => number;
}

/** No wire: it cannot go dead. */
export async function bareWire(target: number): Promise<LateWire> {
  return {
    port: target,
    die() {
      throw new Error("this wire cannot go dead");
    },
    next: () => new Promise(() => {}),
    mute() {
      throw new Error("this wire cannot go mute");
    },
    heal: () => Promise.resolve(0),
    close: () => Promise.resolve(),
  };
}

const PACE_MS = 2;

const resetCodes: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE"]);

const isReset = (error: NodeJS.ErrnoException | null | undefined): boolean => resetCodes.has(error?.code);

/**
 * A reset that comes with the last bytes, or after an end, is read as an end without an error: libuv takes
 * the end of what it could read for an orderly one. A write of nothing finds it.
 */
function wasReset(socket: Socket): Promise<boolean> {
  if (!socket.writable) return Promise.resolve(false);
  return new Promise((resolve) => {
    socket.write("", (error) => resolve(isReset(error)));
  });
}

/** A sender that has reset its connection sends nothing again. */
function takeBack({ waiting }: Connection, from: Socket): void {
  const kept = waiting.filter((each) => each.from !== from);
  waiting.splice(0, waiting.length, ...kept);
}

/** What comes meanwhile is delivered after that. */
async function deliver(connection: Connection): Promise<number> {
  const { client, silent, waiting } = connection;
  if (await wasReset(client)) takeBack(connection, client);
  let late = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    late += next.act();
    if (next.from === client && waiting.length > 0) await wait(PACE_MS);
  }
  silent.clear();
  return late;
}

/** Stands before `port` of this machine. */
export async function startLateWire(target: number): Promise<LateWire> {
  const connections = new Set<Connection>();
  let dropsFrom: ((clientPort: number) => boolean) | null = null;
  let isMute = false;
  const happening = new EventEmitter();

  function silence(connection: Connection): void {
    const { client, server, silent } = connection;
    if (dropsFrom?.(Number(client.remotePort)) === true) silent.add(client).add(server);
    if (isMute) silent.add(server);
  }

  function join(client: Socket): void {
    const server = connect({ host: "127.0.0.1", port: target, noDelay: true, allowHalfOpen: true });
    const connection: Connection = { client, server, silent: new Set(), waiting: [] };
    silence(connection);
    connections.add(connection);
    const later = (from: Socket, act: () => number) => {
      if (!connection.silent.has(from)) return void act();
      connection.waiting.push({ from, act });
      happening.emit("held");
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      const reset = () => {
        takeBack(connection, from);
        happening.emit("reset");
      };
      from.on("data", (bytes: Buffer) =>
        later(from, () => {
          // One that has ended may be gone: it would answer with a reset.
          if (!to.destroyed && !to.readableEnded) to.write(bytes);
          return bytes.length;
        }),
      );
      from.on("end", async () => {
        later(from, () => {
          to.end();
          return 0;
        });
        if (await wasReset(from)) reset();
      });
      // The other side's end is told by `close`.
      from.on("error", (error) => {
        if (isReset(error)) reset();
      });
      from.on("close", () => {
        later(from, () => {
          to.destroySoon();
          return 0;
        });
        if (to.destroyed) connections.delete(connection);
      });
    }
  }

  const listening = createServer({ noDelay: true, allowHalfOpen: true }, join);
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  return {
    port: (listening.address() as AddressInfo).port,
    die(from = () => true) {
      dropsFrom = from;
      for (const connection of connections) silence(connection);
    },
    mute() {
      isMute = true;
      for (const connection of connections) silence(connection);
    },
    async next(what) {
      await once(happening, what);
    },
    async heal() {
      dropsFrom = null;
      isMute = false;
      const late = await Promise.all([...connections].map(deliver));
      return late.reduce((sum, bytes) => sum + bytes, 0);
    },
    async close() {
      listening.close();
      for (const { client, server } of connections) {
        client.destroy();
        server.destroy();
      }
      await once(listening, "close");
    },
  };
}
