import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type RunningGateway, startGateway } from "./e2e-harness.ts";
import { listenMqtt } from "./mqtt-ear.ts";

/** TEST-NET-1: the address of no machine. */
const ABSENT = "192.0.2.1";
/** The longest wait of the harness's backoff, and what a busy machine adds to it. */
const SOON = { timeout: 20_000 };

let simulator: RunningSimulator;
let folder: string;
let gateway: RunningGateway | null = null;

beforeAll(async () => {
  simulator = await startSimulator({ seed: 7 });
});
afterAll(() => simulator.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-listeners-"));
});
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
  await rm(folder, { recursive: true, force: true });
});

interface PartHealth {
  readonly state: string;
  readonly detail?: string;
}

/** The health of each part, by the control socket. */
async function health(): Promise<Readonly<Record<string, PartHealth>>> {
  const asked = request({ socketPath: gateway?.socketPath, path: "/healthz", host: "localhost" }).end();
  const [response] = await once(asked, "response");
  let body = "";
  for await (const chunk of response) body += chunk;
  return JSON.parse(body).components;
}

async function squat(port: number): Promise<Server> {
  const squatter = createServer().listen(port, "127.0.0.1");
  await once(squatter, "listening");
  return squatter;
}

const warningsWith = (text: string) =>
  gateway?.log.entries.filter((line) => line.includes('"level":40') && line.includes(text)) ?? [];

test("a port that another program has keeps its listener waiting, and no other", async () => {
  const [mqtt, web] = [await freePorts(1), await freePorts(1)];
  const squatters = [await squat(mqtt), await squat(web)];
  gateway = await startGateway(folder, simulator.endpoints, {
    mqtt: { listen: { host: "127.0.0.1", port: mqtt } },
    web: { listen: { host: "127.0.0.1", port: web } },
  });
  const { mqtt: link, "mqtt-broker": broker, opcua, web: page } = await health();
  expect(page?.state).toBe("down");
  expect(page?.detail).toMatch(`127.0.0.1, port ${web}: another program has it`);
  expect(page?.detail).toContain("web.listen.port");
  expect(broker).toMatchObject({ state: "down", detail: expect.stringContaining(`port ${mqtt}`) });
  expect(opcua).toMatchObject({ state: "up" });
  // The gateway's own connection does not need the port.
  expect(link?.state).not.toBe("down");
  // Some attempts later there is still one line for each.
  await vi.waitFor(() => expect(warningsWith("cannot listen")).toHaveLength(2), SOON);
  for (const squatter of squatters) squatter.close();
  await vi.waitFor(
    async () => expect((await fetch(`http://127.0.0.1:${web}/readyz`)).status).toBe(200),
    SOON,
  );
  // What was retained before is there for the first client.
  const ear = await vi.waitFor(() => listenMqtt(`mqtt://127.0.0.1:${mqtt}`, "late", "fleetgate/e2e"), SOON);
  await vi.waitFor(() => expect(ear.texts("robots/cart-01/info").length).toBeGreaterThan(0), SOON);
  await ear.close();
  await vi.waitFor(async () => {
    const parts = await health();
    expect([parts.web?.state, parts["mqtt-broker"]?.state]).toEqual(["up", "up"]);
  }, SOON);
  expect(warningsWith("cannot listen")).toHaveLength(2);
});

test("a gateway stops while a listener waits", async () => {
  const web = await freePorts(1);
  const squatter = await squat(web);
  gateway = await startGateway(folder, simulator.endpoints, {
    web: { listen: { host: "127.0.0.1", port: web } },
  });
  await gateway.stop();
  gateway = null;
  squatter.close();
});

test.skipIf(process.getuid?.() !== 0)("an address that appears later is listened on then", async () => {
  await writeFile(join(folder, "password"), "a password of some length\n", { mode: 0o600 });
  const port = await freePorts(1);
  gateway = await startGateway(folder, simulator.endpoints, {
    opcua: {
      listen: { host: ABSENT, port },
      insecureLoopback: undefined,
      users: { line1: { password: "password", role: "operator" } },
    },
  });
  const { opcua, web } = await health();
  expect(opcua?.state).toBe("down");
  expect(opcua?.detail).toMatch(`${ABSENT}, port ${port}: no network of this machine has the address`);
  expect(web).toMatchObject({ state: "up" });
  execFileSync("ip", ["addr", "add", `${ABSENT}/32`, "dev", "lo"]);
  try {
    await vi.waitFor(async () => expect((await health()).opcua?.state).toBe("up"), SOON);
    expect(warningsWith("cannot listen")).toHaveLength(1);
  } finally {
    execFileSync("ip", ["addr", "del", `${ABSENT}/32`, "dev", "lo"]);
  }
});
