import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { newClient, startServer } from "./opcua-harness.ts";

const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-addresses-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** What a client on this machine is told that names this address; its own if none is given. */
async function told(port: string, asked?: string) {
  const client = newClient();
  const url = `opc.tcp://127.0.0.1:${port}`;
  await client.connect(url);
  const endpoints = await client.getEndpoints({ endpointUrl: asked ?? url });
  const servers = await client.findServers({ endpointUrl: asked ?? url });
  await client.disconnect();
  const certificate = new X509Certificate(endpoints[0]?.serverCertificate ?? Buffer.alloc(0));
  return {
    endpoints: [...new Set(endpoints.map(({ endpointUrl }) => endpointUrl))],
    ofEndpoints: [...new Set(endpoints.flatMap(({ server }) => server.discoveryUrls ?? []))],
    servers: servers.flatMap(({ discoveryUrls }) => discoveryUrls ?? []),
    certificate,
  };
}

const portOf = (url: string) => /:(\d+)$/.exec(url)?.[1] ?? "";

it("endpoints, their server and FindServers have the address that the client used", async () => {
  const running = await startServer({
    dataDir,
    hostname: "gateway1.plant.example",
    alternateHostnames: ["127.0.0.1"],
  });
  const port = portOf(running.url);
  for (const asked of [undefined, "opc.tcp://localhost:14840"]) {
    const urls = [asked ?? `opc.tcp://127.0.0.1:${port}`];
    expect(await told(port, asked)).toMatchObject({ endpoints: urls, ofEndpoints: urls, servers: urls });
  }
  const { servers } = await told(port, "opc.tcp://evil.example:4840");
  expect(servers).toContain(`opc.tcp://gateway1.plant.example:${port}`);
  await running.stop();
});

it("IPv6 addresses stand in brackets in each URL, with or without which they are configured", async () => {
  const running = await startServer({
    dataDir,
    hostname: "fd00::5",
    alternateHostnames: ["[fd00::6]", "fd00::7"],
  });
  const port = portOf(running.url);
  expect(running.url).toBe(`opc.tcp://[fd00::5]:${port}`);
  const all = await told(port, "opc.tcp://evil.example:4840");
  const urls = ["fd00::5", "fd00::6", "fd00::7"].map((host) => `opc.tcp://[${host}]:${port}`);
  expect(all.servers).toEqual(urls);
  expect(all.endpoints).toEqual(urls);
  for (const host of ["fd00::5", "fd00::6", "fd00::7"])
    expect(all.certificate.checkIP(host), host).toBeDefined();
  const asked = "opc.tcp://[fd00::6]:14840";
  expect(await told(port, asked)).toMatchObject({ endpoints: [asked], servers: [asked] });
  await running.stop();
});
