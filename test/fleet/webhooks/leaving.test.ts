import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { createGateway } from "../../../src/composition/gateway.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { CallEnding, FleetPort } from "../../../src/contracts/fleet-port.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { defaultFleetTimes, leavingMs } from "../../../src/fleet/options.ts";
import { createSubscriptionControl } from "../../../src/fleet/webhooks/subscription-control.ts";
import { createWebhookCalls, wantedSubscriptions } from "../../../src/fleet/webhooks/subscription-plan.ts";
import { createTrust } from "../../../src/fleet/webhooks/trust.ts";
import { sleep, systemClock } from "../../../src/platform/clock.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { createChronicle } from "../../support/chronicle.ts";
import { openedJson } from "../../support/fleet-requests.ts";
import { freePorts } from "../../support/free-ports.ts";
import { anyIdentifiers } from "../../support/identifiers.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { startSimulator } from "../../support/simulator.ts";
import { openHungWire } from "../hung-wire.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const BUDGET_MS = leavingMs({
  kind: "webhook",
  webhook: {
    listen: { host: "", port: 0 },
    publicUrl: "",
    tls: { cert: "", key: "" },
    directory: "",
    onShutdown: "delete",
  },
});
const IDS = ["w1", "w2", "w3", "w4"];

/**
 * A service that has four subscriptions of ours and one of somebody else's, and takes so long for each
 * answer.
 */
function slowService(answerMs: (operation: string, ask: number) => number) {
  const clock = createManualClock();
  const lines: Array<Record<string, unknown>> = [];
  const log = createLog("warn", { write: (line) => void lines.push(JSON.parse(line)) });
  const there = new Set(IDS);
  let asks = 0;
  const answer = (operation: string, json: string): CallEnding => {
    if (operation === "DeleteWebhook") there.delete((JSON.parse(json) as { id: string }).id);
    const webhooks = [...there]
      .map((id) => ({ id, description: "Fleetgate events i1" }))
      .concat({ id: "other", description: "somebody else's" });
    const responseJson = operation === "ListWebhooks" ? JSON.stringify({ webhooks }) : "{}";
    return { kind: "ok", responseJson, missionId: null };
  };
  const port: FleetPort = {
    async call(request, deadlineMs) {
      const { operation, requestJson } = openedJson(request);
      asks += 1;
      const takesMs = answerMs(operation, asks);
      await sleep(clock, Math.min(takesMs, deadlineMs), new AbortController().signal);
      if (takesMs <= deadlineMs) return answer(operation, requestJson);
      return { kind: "unknown", code: "DEADLINE_EXCEEDED", message: "no answer" };
    },
  };
  const identity = { instance: "i1", secret: "x".repeat(43) };
  const wanted = () => wantedSubscriptions({ kind: "ids", ids: ["r1"] }, "https://gateway.example.com/hook");
  const control = createSubscriptionControl(identity, wanted, {
    trust: createTrust(30_000, clock),
    calls: createWebhookCalls(port, anyIdentifiers()),
    times: defaultFleetTimes,
    clock,
    random: () => 0.5,
    log,
  });
  return {
    there,
    lines,
    /** How long the removal took, in milliseconds. */
    async remove(): Promise<number> {
      let tookMs: number | null = null;
      void control.remove(BUDGET_MS).then(() => {
        tookMs = clock.monotonicMs();
      });
      await clock.settle(60_000);
      return tookMs ?? Number.POSITIVE_INFINITY;
    },
  };
}

describe("subscriptions that are to go when the gateway stops", () => {
  test("are deleted at the same time, from a service that takes 3 s for each answer", async () => {
    const service = slowService(() => 3_000);
    expect(await service.remove()).toBe(6_000);
    expect([...service.there]).toEqual([]);
    expect(service.lines).toEqual([]);
  });

  test.each(["ListWebhooks", "DeleteWebhook"])(
    "are asked for again where an answer of %s was lost: deleting may be repeated",
    async (operation) => {
      let isLost = false;
      const service = slowService((asked) => {
        if (asked !== operation || isLost) return 100;
        isLost = true;
        return 60_000;
      });
      expect(await service.remove()).toBeLessThan(BUDGET_MS);
      expect([...service.there]).toEqual([]);
      expect(service.lines).toEqual([]);
    },
  );

  test("are named in the log when the time runs out, those that are left", async () => {
    const service = slowService((operation, ask) =>
      operation === "ListWebhooks" || ask === 3 ? 50 : 60_000,
    );
    expect(await service.remove()).toBeLessThanOrEqual(BUDGET_MS + 100);
    expect([...service.there]).toEqual(["w1", "w3", "w4"]);
    expect(service.lines).toMatchObject([
      { subscriptions: ["w1", "w3", "w4"], problem: "DEADLINE_EXCEEDED: no answer" },
    ]);
  });

  test("are said to be left behind when the service does not even list them", async () => {
    const service = slowService(() => 60_000);
    expect(await service.remove()).toBeLessThanOrEqual(BUDGET_MS + 100);
    expect(service.lines).toMatchObject([{ msg: expect.stringContaining("left behind") }]);
  });
});

test("a gateway that stops gives a slow service the time to delete them", async () => {
  const authority = await createCa(Date.now());
  const own = await createServerCertificate(authority, ["localhost"], Date.now());
  const simulator = await startSimulator({ unsafeWebhookTargets: { trustedCa: authority.certificate } });
  closers.push(() => simulator.stop());
  const wire = await openHungWire(simulator.endpoints.grpc);
  closers.push(() => wire.close());
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-leaving-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "hook.pem"), own.certificate, { mode: 0o600 });
  await writeFile(join(folder, "hook.key"), own.key, { mode: 0o600 });
  const port = await freePorts(1);
  const { endpoints } = simulator;
  const events = { kind: "webhook", listen: { port }, publicUrl: `https://localhost:${port}/hook` };
  const path = join(folder, "fleetgate.yaml");
  await writeFile(
    path,
    stringify({
      gateway: { id: "leaving", dataDir: "gateway" },
      fleet: {
        grpc: { address: wire.address },
        https: endpoints.https,
        ca: endpoints.ca,
        credentials: endpoints.credentials,
        locations: endpoints.locations,
        events: { ...events, certificate: "hook.pem", key: "hook.key", onShutdown: "delete" },
      },
      commands: { drainMs: 0 },
    }),
  );
  const loaded = await loadConfig(path, {}, createCatalogue(), Date.now());
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const said = createChronicle<string>((line) => line);
  const gateway = createGateway(loaded.config, {
    clock: systemClock,
    random: Math.random,
    log: createLog("info", { write: said.add }),
  });
  const stopping = new AbortController();
  const run = gateway.run(stopping.signal, () => {});
  const listed = async () => {
    const answer = await simulator.rest("POST", "/v1/webhook/list", {});
    return (answer.json() as { webhooks?: readonly unknown[] }).webhooks ?? [];
  };
  for (const events of ["mission", "battery"]) {
    const isMade = (line: string) => line.includes("subscription was made") && line.includes(`"${events}"`);
    await said.first(`a subscription of ${events}`, isMade);
  }
  expect(await listed()).toHaveLength(2);
  wire.hang("kept");
  stopping.abort();
  // The service's slowness itself, less than what it is given.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  wire.goOn();
  await run;
  expect(await listed()).toEqual([]);
  expect(said.entries.filter((line) => /left behind|could not be deleted|did not stop/.test(line))).toEqual(
    [],
  );
});
