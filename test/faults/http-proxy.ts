import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** An HTTP proxy that makes tunnels for one user. */
export interface HttpProxy {
  readonly port: number;
  /** The targets of the tunnels that were asked for with the right password. */
  tunnels(): readonly string[];
  close(): Promise<void>;
}

/**
 * Starts one.
 * @param resolve the `host:port` behind a target's; undefined: its name does not resolve, and 502 is the
 * answer
 */
export async function startHttpProxy(
  user: string,
  password: string,
  resolve: (target: string) => string | undefined = (target) => target,
): Promise<HttpProxy> {
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const tunnels: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on("connect", (request, client: Socket) => {
    const target = request.url ?? "";
    if (request.headers["proxy-authorization"] !== expected) {
      client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    const resolved = resolve(target);
    if (resolved === undefined) {
      client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      return;
    }
    tunnels.push(target);
    const { hostname, port } = new URL(`tcp://${resolved}`);
    const upstream = connect({ host: hostname, port: Number(port) }, () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    tunnels: () => tunnels,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
