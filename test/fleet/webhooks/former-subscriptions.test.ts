import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { EventSource } from "../../../src/fleet/options.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { freePorts } from "../../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listed(simulator: RunningSimulator): Promise<readonly string[]> {
  const { webhooks } = (await simulator.rest("POST", "/v1/webhook/list", {})).json() as {
    webhooks: ReadonlyArray<{ description?: string }>;
  };
  return webhooks.map(({ description = "" }) => description);
}

test("a gateway that changes from webhooks to streams deletes its subscriptions, and nobody else's", async () => {
  const authority = await createCa(Date.now());
  const own = await createServerCertificate(authority, ["localhost"], Date.now());
  const simulator = await startSimulator({ unsafeWebhookTargets: { trustedCa: authority.certificate } });
  closers.push(() => simulator.stop());
  const cacheDirectory = await mkdtemp(join(tmpdir(), "fleetgate-former-"));
  closers.push(() => rm(cacheDirectory, { recursive: true, force: true }));
  const port = await freePorts(1);
  const webhook: EventSource = {
    kind: "webhook",
    webhook: {
      listen: { host: "127.0.0.1", port },
      publicUrl: `https://localhost:${port}/hook`,
      tls: { cert: own.certificate, key: own.key },
      onShutdown: "keep",
      directory: join(cacheDirectory, "webhooks"),
    },
  };
  const before = await startFleetSession(simulator.endpoints, { cacheDirectory, events: webhook });
  await before.until("two subscriptions", () => before.figure("webhook_subscriptions_made") === 2);
  await before.stop();
  await simulator.rest("POST", "/v1/webhook/create", {
    url: `https://localhost:${port}/other`,
    eventType: "battery",
    selector: { locationIds: { ids: ["plant-1"] } },
    options: { description: "Fleetgate events 0123" },
  });
  expect(await listed(simulator)).toHaveLength(3);

  // What the service does not answer is asked for again.
  for (const operation of ["ListWebhooks", "DeleteWebhook"]) {
    simulator.control.apply({ kind: "command", operation, effect: "internal-before", count: 1 });
  }
  const times = { refusedRetryMs: 50 };
  const after = await startFleetSession(simulator.endpoints, { cacheDirectory, times });
  closers.push(() => after.stop());
  await expect.poll(() => readdir(cacheDirectory), { timeout: 10_000 }).not.toContain("webhooks");
  expect(await listed(simulator)).toEqual(["Fleetgate events 0123"]);
});
