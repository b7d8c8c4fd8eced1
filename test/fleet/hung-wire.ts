import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * What becomes of bytes while a service hangs. `kept`: they wait and are answered later, as by a
 * process that is stopped (SIGSTOP) and goes on. `lost`: whatever was sent is never answered, as
 * behind a balancer that forgets.
 */
export type Hang = "kept" | "lost";

/** A wire to a service that can hang: connections are taken, and nothing is answered. */
export interface HungWire {
  /** `localhost:port`. */
  readonly address: string;
  /** Connections that were made since the start. */
  accepted(): number;
  hang(how: Hang): void;
  goOn(): void;
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

export async function openHungWire(target: string): Promise<HungWire> {
  const sockets = new Set<Socket>();
  const { hostname, port } = new URL(`tcp://${target}`);
  let hung: Hang | null = null;
  let accepted = 0;

  const server = createServer({ noDelay: true }, (client) => {
    accepted += 1;
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      if (hung === "kept") from.pause();
      from.on("data", (bytes) => {
        if (hung !== "lost" && !to.destroyed) to.write(bytes);
      });
      // The other side's end is told by `close`; its error has nobody else to hear it.
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    accepted: () => accepted,
    hang(how) {
      hung = how;
      if (how === "kept") for (const socket of sockets) socket.pause();
    },
    goOn() {
      hung = null;
      for (const socket of sockets) socket.resume();
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
