import "reflect-metadata";
import { createSecureServer } from "node:http2";
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createConnect, createOpenSockets } from "../../../src/fleet/channels/connection.ts";
import { createPreflight } from "../../../src/fleet/channels/preflight.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";

const closers: Array<() => void> = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

const authority = await createCa(Date.now());

/** A gRPC server's HTTP/2, with a certificate of these names. `shown`: the server names that clients sent. */
async function startServer(...names: readonly string[]): Promise<{ port: number; shown: unknown[] }> {
  const own = await createServerCertificate(authority, names, Date.now());
  const shown: unknown[] = [];
  const server = createSecureServer({ key: own.key, cert: own.certificate, ALPNProtocols: ["h2"] });
  server.on("secureConnection", (socket) => shown.push(socket.servername));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, shown };
}

/** An HTTP proxy that opens every tunnel. */
async function startProxy(): Promise<string> {
  const server = createServer((client) => {
    client.once("data", (request) => {
      const [, host, port] = /^CONNECT ([^ ]+):(\d+) /.exec(String(request)) ?? [];
      const target: Socket = connectTcp(Number(port), host, () => {
        client.write("HTTP/1.1 200 OK\r\n\r\n");
        client.pipe(target).pipe(client);
      });
      for (const socket of [client, target]) socket.on("error", () => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Connects as the gateway does: the preflight first, then grpc-js. */
async function connect(grpcAddress: string, proxyUrl: string | null): Promise<void> {
  const options = {
    grpcAddress,
    proxyUrl,
    tls: { ca: authority.certificate, client: null },
    times: defaultFleetTimes,
  };
  const connection = await createConnect(
    options,
    systemClock,
    createPreflight(options, systemClock),
    createOpenSockets(),
  )(AbortSignal.timeout(5_000));
  connection.close();
}

test.each([
  ["an IP address is not sent as the server's name", "127.0.0.1", false],
  ["a host's name is", "localhost", "localhost"],
])("%s, with and without a proxy", async (_says, host, name) => {
  const { port, shown } = await startServer(host);
  await connect(`${host}:${port}`, null);
  await connect(`${host}:${port}`, await startProxy());
  // The preflight's connection, and grpc-js's own.
  expect(shown).toEqual([name, name, name, name]);
});

test("the certificate must name the IP address that is connected to", async () => {
  const { port } = await startServer("localhost");
  await expect(connect(`127.0.0.1:${port}`, null)).rejects.toThrow(
    /is not for 127\.0\.0\.1; it is for DNS:localhost/,
  );
});
