import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { connect, createServer, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { createClientCertificate } from "../support/client-certificate.ts";
import { type FleetHarness, startFleetSession } from "../support/fleet-harness.ts";
import { startSimulator } from "../support/simulator.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A TLS proxy in front of `target` that accepts only clients with this certificate. */
async function openTlsProxy(
  target: string,
  accepted: string,
  caFile: string,
): Promise<{ address: string; connections(): number }> {
  const ca = await readFile(caFile, "utf8");
  const authority = { certificate: ca, key: await readFile(join(dirname(caFile), "ca.key"), "utf8") };
  const own = await createServerCertificate(authority, ["localhost"], Date.now());
  const { hostname, port } = new URL(`tcp://${target}`);
  const sockets = new Set<TLSSocket>();
  let connections = 0;
  const server = createServer(
    {
      cert: own.certificate,
      key: own.key,
      ca: accepted,
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ["h2", "http/1.1"],
    },
    (client) => {
      connections += 1;
      const protocol = client.alpnProtocol === "h2" ? "h2" : "http/1.1";
      const upstream = connect({
        host: hostname,
        port: Number(port),
        servername: "localhost",
        ca,
        ALPNProtocols: [protocol],
      });
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(from);
        from.on("error", () => {});
        from.on("close", () => to.destroy());
      }
      client.pipe(upstream).pipe(client);
    },
  );
  // Whoever shows nothing is what the test is about.
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return { address: `localhost:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

const create = (harness: FleetHarness) => {
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } };
  return harness.port.call("CreateMission", JSON.stringify({ robotId: "base-01", mission }), 3_000);
};

test.each(["grpc", "rest"] as const)(
  "a service that wants a certificate of ours gets it: exchange, streams, polls and commands over %s",
  async (transport) => {
    const simulator = await startSimulator();
    closers.push(() => simulator.stop());
    const { endpoints } = simulator;
    const own = await createClientCertificate();
    const grpc = await openTlsProxy(endpoints.grpc, own.certificate, endpoints.ca);
    const https = await openTlsProxy(new URL(endpoints.https).host, own.certificate, endpoints.ca);
    const behind = { ...endpoints, grpc: grpc.address, https: `https://${https.address}` };
    const ca = simulator.ca.toString("utf8");

    const unauthorized = await startFleetSession(behind, { transport });
    closers.push(() => unauthorized.stop());
    await unauthorized.until("it is said", () => unauthorized.health().detail?.includes("no token") ?? false);
    expect(grpc.connections() + https.connections()).toBe(0);

    const harness = await startFleetSession(behind, { transport, tls: { ca, client: own } });
    closers.push(() => harness.stop());
    await harness.event("battery");
    await harness.event("conveyors");
    await harness.event("roster", ({ robots }) => robots.length > 0);
    expect(await create(harness)).toMatchObject({ kind: "ok" });
    await harness.until("all is well", () => harness.health().state === "up");
  },
);
