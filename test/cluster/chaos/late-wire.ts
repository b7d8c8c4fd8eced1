import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A wire that goes dead, as a network does that drops packets: nothing is closed, and what was sent meanwhile
 * arrives when it is healed, whether its sender is still there or not, unless it has reset its connection.
 */
export interface LateWire {
  readonly port: number;
  /** @param dropsFrom whether what this client sends, by its port, is dropped; every client unless told */
  die(dropsFrom?: (clientPort: number) => boolean): void;
  /** Resolves when something waits, or when something that waited was taken back by a reset. */
  next(what: "held" | "reset"): Promise<void>;
  /** Delivers all that waits, in its order. @returns the bytes that arrive late */
  heal(): number;
  close(): Promise<void>;
}

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  isDead: boolean;
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
    heal: () => 0,
    close: () => Promise.resolve(),
  };
}

/** Stands before `port` of this machine. */
export async function startLateWire(target: number): Promise<LateWire> {
  const connections = new Set<Connection>();
  let dropsFrom: ((clientPort: number) => boolean) | null = null;
  const happening = new EventEmitter();

  function join(client: Socket): void {
    const server = connect({ host: "127.0.0.1", port: target, noDelay: true });
    const isDead = dropsFrom?.(Number(client.remotePort)) ?? false;
    const connection: Connection = { client, server, isDead, waiting: [] };
    connections.add(connection);
    const later = (from: Socket, act: () => number) => {
      if (!connection.isDead) return void act();
      connection.waiting.push({ from, act });
      happening.emit("held");
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("data", (bytes: Buffer) =>
        later(from, () => {
          if (!to.destroyed) to.write(bytes);
          return bytes.length;
        }),
      );
      // The other side's end is told by `close`. A sender that has reset its connection sends nothing again.
      from.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "ECONNRESET") return;
        const kept = connection.waiting.filter((each) => each.from !== from);
        connection.waiting.splice(0, connection.waiting.length, ...kept);
        happening.emit("reset");
      });
      from.on("close", () =>
        later(from, () => {
          to.destroySoon();
          connections.delete(connection);
          return 0;
        }),
      );
    }
  }

  const listening = createServer({ noDelay: true }, join);
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  return {
    port: (listening.address() as AddressInfo).port,
    die(from = () => true) {
      dropsFrom = from;
      for (const connection of connections) connection.isDead ||= from(Number(connection.client.remotePort));
    },
    async next(what) {
      await once(happening, what);
    },
    heal() {
      dropsFrom = null;
      let late = 0;
      for (const connection of connections) {
        connection.isDead = false;
        for (const { act } of connection.waiting.splice(0)) late += act();
      }
      return late;
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
