import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A wire on which a test keeps back what clients send, to deliver it later: also when its sender is gone. */
export interface HoldingRelay {
  readonly port: number;
  /** Keeps back what clients send from now on, on the connections that are open. */
  hold(): Held;
  /** Cuts the clients off. The server keeps a connection of which something is held. */
  cut(): void;
  close(): Promise<void>;
}

/** What is kept back. */
export interface Held {
  /** Resolves when a client has sent something. */
  readonly caught: Promise<void>;
  /** Delivers it, and resolves when the server has answered or is gone. Later bytes go through again. */
  deliver(): Promise<void>;
}

interface Wire {
  readonly client: Socket;
  readonly server: Socket;
  /** Null: nothing is kept back. */
  held: Buffer[] | null;
}

/** Stands before `target` (`host:port`), which may be another for each connection. */
export async function startHoldingRelay(target: () => string): Promise<HoldingRelay> {
  const wires = new Set<Wire>();
  let onCaught = () => {};

  function join(client: Socket): void {
    const { hostname, port } = new URL(`tcp://${target()}`);
    const server = connect({ host: hostname, port: Number(port), noDelay: true });
    const wire: Wire = { client, server, held: null };
    wires.add(wire);
    client.on("data", (bytes) => {
      if (wire.held === null) return void (server.destroyed || server.write(bytes));
      wire.held.push(bytes);
      onCaught();
    });
    server.on("data", (bytes) => void (client.destroyed || client.write(bytes)));
    // The other side's end is told by `close`; its error has nobody else to hear it.
    for (const socket of [client, server]) socket.on("error", () => {});
    client.on("close", () => {
      if (wire.held === null) server.destroy();
    });
    server.on("close", () => {
      wires.delete(wire);
      client.destroy();
    });
  }

  async function deliver(wire: Wire): Promise<void> {
    const { client, server, held } = wire;
    wire.held = null;
    if (held !== null && held.length > 0 && !server.destroyed) {
      const received = new Promise<void>((resolve) => {
        server.once("data", () => resolve());
        server.once("close", () => resolve());
      });
      server.write(Buffer.concat(held));
      await received;
    }
    if (client.destroyed) server.destroy();
  }

  const listening = createServer({ noDelay: true }, join);
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  return {
    port: (listening.address() as AddressInfo).port,
    hold() {
      const holding = [...wires].filter(({ held }) => held === null);
      for (const wire of holding) wire.held = [];
      const caught = new Promise<void>((resolve) => {
        onCaught = resolve;
      });
      return {
        caught,
        deliver: async () => void (await Promise.all(holding.map(deliver))),
      };
    },
    cut() {
      for (const { client } of wires) client.destroy();
    },
    async close() {
      listening.close();
      for (const { client, server } of wires) {
        client.destroy();
        server.destroy();
      }
      await once(listening, "close");
    },
  };
}
