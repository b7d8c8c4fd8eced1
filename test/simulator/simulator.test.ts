import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PortTaken } from "../../src/platform/listener.ts";
import { createSimulator } from "../../src/simulator/simulator.ts";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import { createPatientClock } from "../support/patient-clock.ts";
import { startSimulator } from "../support/simulator.ts";

const { method } = FleetService;
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "fleetgate-simulator-test-"));
});
afterEach(() => rm(dataDir, { recursive: true }));

/** A port that another program has. */
async function takePort() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, free: () => server.close() };
}

test.each([
  ["fleet gRPC", (port: number) => ({ grpcPort: port, httpsPort: 0 })],
  ["fleet HTTPS", (port: number) => ({ grpcPort: 0, httpsPort: port })],
])(
  "a port that is taken for %s is named, with its listener, and nothing stays open",
  async (listener, ports) => {
    const { port, free } = await takePort();
    const simulator = createSimulator({ dataDir, ...ports(port) });
    const failure: unknown = await simulator
      .run(new AbortController().signal, () => {})
      .catch((error) => error);
    expect(failure).toBeInstanceOf(PortTaken);
    expect(failure).toMatchObject({ port, listener });
    expect(simulator.health().state).toBe("down");
    free();
  },
);

test("it closes within two seconds while streams are open, which end as UNAVAILABLE", async () => {
  const simulator = await startSimulator();
  const client = await simulator.client();
  const stream = client.stream(method.subscribeMissionStatus, {
    selector: { targetId: { case: "locationId", value: simulator.endpoints.locations[0] ?? "" } },
  });
  await stream.next();
  // Without what keeps this process from running.
  const watch = createPatientClock();
  await simulator.stop();
  expect(watch.monotonicMs()).toBeLessThan(2_000);
  watch.close();
  expect(await stream.ended).toBe(14);
});

test("a second start keeps the certificate, the credentials and the webhook subscriptions", async () => {
  const first = await startSimulator({ dataDir, unsafeWebhookTargets: {} });
  const client = await first.client();
  const made = await client.call(method.createWebhook, {
    url: "https://localhost:1/hook",
    eventType: "mission",
    selector: { selector: { case: "locationIds", value: { ids: [...first.endpoints.locations] } } },
    options: {
      description: "line 4",
      requestTemplate: { robot: "{{robot_id}}" },
      headers: { "X-Secret": "s" },
    },
  });
  const credentials = await readFile(first.endpoints.credentials, "utf8");
  await first.stop();

  const second = await startSimulator({ dataDir, unsafeWebhookTargets: {} });
  expect(second.ca).toEqual(first.ca);
  expect(await readFile(second.endpoints.credentials, "utf8")).toBe(credentials);
  const { webhooks } = await (await second.client()).call(method.listWebhooks, {});
  expect(webhooks).toEqual([made.webhook]);
  await second.stop();
});

test("a generated fleet of a thousand robots needs no file, and tells all their states at once", async () => {
  const simulator = await startSimulator({ dataDir, scenario: { kind: "generated", robots: 1_000 } });
  const client = await simulator.client();
  const stream = client.stream(method.subscribeMissionStatus, {
    selector: { targetId: { case: "locationId", value: simulator.endpoints.locations[0] ?? "" } },
  });
  const seen = new Set<string>();
  while (seen.size < 1_000) seen.add((await stream.next()).robotId);
  stream.cancel();
  await simulator.stop();
});
