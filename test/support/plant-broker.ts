import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Aedes } from "aedes";

/** A broker of the plant on loopback, which outlives the gateway. */
export interface PlantBroker {
  readonly url: string;
  /** The ids of the clients that it has let in, in order. */
  readonly clients: readonly string[];
  /** Cuts the connections of a client, without a word. */
  cut(clientId: string): void;
  close(): Promise<void>;
}

/** @param port 0 takes any free one */
export async function startPlantBroker(port = 0): Promise<PlantBroker> {
  const aedes = await Aedes.createBroker();
  const clients: string[] = [];
  const connections = new Map<string, () => void>();
  aedes.on("clientReady", (client) => {
    clients.push(client.id);
    connections.set(client.id, () => client.conn.destroy());
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    aedes.handle(socket);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `mqtt://127.0.0.1:${address.port}`,
    clients,
    cut: (clientId) => connections.get(clientId)?.(),
    async close() {
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
