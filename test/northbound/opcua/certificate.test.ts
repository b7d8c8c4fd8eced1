import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { OpcUaOptions } from "../../../src/northbound/opcua/options.ts";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";
import { newClient, startServer } from "./opcua-bench.ts";

const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-certificate-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const own = join(dataDir, "opcua", "server", "own");
const DAY_MS = 86_400_000;

/** Starts the server on the same folder, and gives its certificate and its key. */
async function certificateOf(options: Partial<OpcUaOptions>, clock: Clock = systemClock) {
  const running = await startServer({ dataDir, ...options }, { clock });
  await running.stop();
  return {
    certificate: new X509Certificate(await readFile(join(own, "certs", "certificate.pem"))),
    key: await readFile(join(own, "private", "private_key.pem"), "utf8"),
  };
}

it("the certificate names every host that endpoints advertise, and is renewed with the same key when they change", async () => {
  const options = { hostname: "gateway1.plant.example", alternateHostnames: ["10.1.2.3", "gate"] };
  const first = await certificateOf(options);
  for (const name of ["gateway1.plant.example", "gate", "localhost"]) {
    expect(first.certificate.checkHost(name), name).toBe(name);
  }
  expect(first.certificate.checkIP("10.1.2.3")).toBe("10.1.2.3");
  expect(first.certificate.subjectAltName).toContain("URI:urn:fleetgate:test");

  const same = await certificateOf(options);
  expect(same.certificate.fingerprint256).toBe(first.certificate.fingerprint256);

  // A name that is unlike others must not have the certificate renewed at each start.
  const unlike = { ...options, alternateHostnames: ["::1", "fd00::1:2", "plc_net", "GATE", "gäte.example"] };
  const odd = await certificateOf(unlike);
  expect((await certificateOf(unlike)).certificate.fingerprint256).toBe(odd.certificate.fingerprint256);

  const renamed = await certificateOf({ ...options, hostname: "gateway2.plant.example" });
  expect(renamed.certificate.checkHost("gateway2.plant.example")).toBe("gateway2.plant.example");
  expect(renamed.key).toBe(first.key);
  const another = await certificateOf({ ...options, applicationUri: "urn:fleetgate:other" });
  expect(another.certificate.subjectAltName).toContain("URI:urn:fleetgate:other");
  expect(another.key).toBe(first.key);
});

it("the certificate is renewed a month before it ends, with the same key", async () => {
  const first = await certificateOf({});
  const endMs = Date.parse(first.certificate.validTo);
  const at = (nowMs: number): Clock => ({ ...systemClock, nowMs: () => nowMs });
  const early = await certificateOf({}, at(endMs - 31 * DAY_MS));
  expect(early.certificate.fingerprint256).toBe(first.certificate.fingerprint256);
  const late = await certificateOf({}, at(endMs - 29 * DAY_MS));
  expect(Date.parse(late.certificate.validTo)).toBeGreaterThan(endMs + 365 * DAY_MS);
  expect(late.key).toBe(first.key);
  // Its clock was wrong: nobody would take a certificate of the future.
  const present = await certificateOf({});
  expect(Date.parse(present.certificate.validFrom)).toBeLessThan(Date.now());
});

it("endpoints are told with the address that the client used, where the certificate names it", async () => {
  const running = await startServer({
    hostname: "gateway1.plant.example",
    alternateHostnames: ["127.0.0.1"],
  });
  const port = new URL(running.url.replace("opc.tcp", "tcp")).port;
  const told = async (url: string, asked = url) => {
    const client = newClient();
    await client.connect(url);
    const endpoints = await client.getEndpoints({ endpointUrl: asked });
    await client.disconnect();
    return [...new Set(endpoints.map(({ endpointUrl }) => endpointUrl))];
  };
  expect(await told(`opc.tcp://localhost:${port}`)).toEqual([`opc.tcp://localhost:${port}`]);
  expect(await told(`opc.tcp://127.0.0.1:${port}`)).toEqual([`opc.tcp://127.0.0.1:${port}`]);
  // A forwarded port is the client's way, and none that the server knows of.
  expect(await told(`opc.tcp://127.0.0.1:${port}`, "opc.tcp://localhost:14840")).toEqual([
    "opc.tcp://localhost:14840",
  ]);
  expect(await told(`opc.tcp://127.0.0.1:${port}`, "opc.tcp://evil.example:4840")).toContain(
    `opc.tcp://gateway1.plant.example:${port}`,
  );
  await running.stop();
});
