import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** Listens for reverse connections of a server, and gives them to clients that connect as usual. */
export interface ReverseRelay {
  /** Where the server connects to, for its configuration. */
  readonly address: string;
  /** Where a client connects to. It gets the next connection of the server, without the ReverseHello. */
  readonly url: string;
  /** How many connections have come from the server. */
  count(): number;
  /** How many of them are open. */
  open(): number;
  close(): Promise<void>;
}

export async function openReverseRelay(): Promise<ReverseRelay> {
  const arrived: Socket[] = [];
  const clients: Socket[] = [];
  const sockets = new Set<Socket>();
  let count = 0;
  const listen = (take: (socket: Socket) => void) =>
    listening((socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
      take(socket);
    });
  let open = 0;

  function join(): void {
    const [server, client] = [arrived[0], clients[0]];
    if (server === undefined || client === undefined) return;
    arrived.shift();
    clients.shift();
    client.pipe(server).pipe(client);
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
  }

  const forServer = await listen((socket) => {
    count += 1;
    open += 1;
    socket.on("close", () => {
      open -= 1;
      if (arrived.includes(socket)) arrived.splice(arrived.indexOf(socket), 1);
    });
    socket.once("data", (bytes) => {
      socket.pause();
      const rest = bytes.subarray(reverseHelloOf(bytes).bytes);
      if (rest.byteLength > 0) socket.unshift(rest);
      arrived.push(socket);
      join();
    });
  });
  const forClients = await listen((socket) => {
    clients.push(socket.pause());
    join();
  });
  return {
    address: addressOf(forServer),
    url: addressOf(forClients),
    count: () => count,
    open: () => open,
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const server of [forServer, forClients]) {
        server.close();
        await once(server, "close");
      }
    },
  };
}

/** Listens on a free port of this machine. */
export async function listening(take: (socket: Socket) => void): Promise<Server> {
  const server = createServer(take).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

export function addressOf(server: Server): string {
  return `opc.tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The texts of a ReverseHello (OPC UA part 6, 7.1.2.6), and its size. */
export function reverseHelloOf(bytes: Buffer): {
  readonly bytes: number;
  readonly serverUri: string;
  readonly endpointUrl: string;
} {
  if (bytes.toString("latin1", 0, 4) !== "RHEF") throw new Error("it is no ReverseHello");
  const uriEnd = 12 + bytes.readUInt32LE(8);
  const urlEnd = uriEnd + 4 + bytes.readUInt32LE(uriEnd);
  return {
    bytes: bytes.readUInt32LE(4),
    serverUri: bytes.toString("utf8", 12, uriEnd),
    endpointUrl: bytes.toString("utf8", uriEnd + 4, urlEnd),
  };
}

/** A port on which nothing listens. */
export async function freeAddress(): Promise<string> {
  const server = await listening(() => {});
  const address = addressOf(server);
  server.close();
  await once(server, "close");
  return address;
}
