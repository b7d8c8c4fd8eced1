import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { WebhookOptions } from "../../src/fleet/options.ts";
import { createReceiver } from "../../src/fleet/webhooks/receiver.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { startReceiver } from "../simulator/webhooks/receiver.ts";
import type { FleetHarness, FleetOverrides } from "../support/fleet-harness.ts";
import { freePorts } from "../support/free-ports.ts";
import { https } from "../support/https.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { type FaultsHarness, openFaultsHarness } from "./faults-harness.ts";

/** A service that delivers, a gateway that receives, and a wire between them that can be unplugged. */
interface Plant extends FaultsHarness {
  /** The way of deliveries. */
  readonly deliveries: TcpProxy;
  readonly options: WebhookOptions;
  readonly ca: Buffer;
  /** A session that takes webhooks, once the service has all that it wants of us. */
  listen(overrides?: FleetOverrides): Promise<FleetHarness>;
  secret(): Promise<string>;
  /** What the service has of us. */
  subscriptions(): Promise<ReadonlyArray<{ eventType: string; enabled: boolean; description?: string }>>;
}

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openPlant(change: Partial<WebhookOptions> = {}, otherCa = ""): Promise<Plant> {
  const authority = await createCa(Date.now());
  const { certificate, key } = await createServerCertificate(authority, ["localhost"], Date.now());
  const port = await freePorts(1);
  const deliveries = await startTcpProxy(() => `127.0.0.1:${port}`);
  closers.push(() => deliveries.close());
  const harness = await openFaultsHarness({
    unsafeWebhookTargets: { trustedCa: `${authority.certificate}\n${otherCa}` },
    webhookDelivery: { attempts: 2, backoff: { baseMs: 10, capMs: 20 }, queueLimit: 1_000 },
  });
  closers.push(() => harness.close());
  const options: WebhookOptions = {
    listen: { host: "127.0.0.1", port },
    publicUrl: `https://${deliveries.address}/hook`,
    tls: { cert: certificate, key },
    onShutdown: "keep",
    directory: join(dirname(harness.simulator().endpoints.ca), "gateway"),
    ...change,
  };
  return {
    ...harness,
    deliveries,
    options,
    ca: Buffer.from(authority.certificate),
    async listen(overrides = {}) {
      const fleet = await harness.start({ events: { kind: "webhook", webhook: options }, ...overrides });
      await fleet.until("streams are open", () => fleet.figure("streams_open") > 0);
      return fleet;
    },
    async secret() {
      const text = await readFile(join(options.directory, "webhook-secret.json"), "utf8");
      return (JSON.parse(text) as { secret: string }).secret;
    },
    async subscriptions() {
      const answer = await harness.simulator().rest("POST", "/v1/webhook/list", {});
      const { webhooks = [] } = answer.json() as {
        webhooks?: Array<{ eventType: string; enabled: boolean }>;
      };
      return webhooks;
    },
  };
}

/**
 * The service has both subscriptions of ours: from before, or as soon as the gateway has made what it lacks.
 */
async function subscribed(plant: Plant, fleet: FleetHarness): Promise<void> {
  for (;;) {
    const made = fleet.figure("webhook_subscriptions_made");
    if ((await plant.subscriptions()).filter(({ enabled }) => enabled).length >= 2) return;
    await fleet.until("another one was made", () => fleet.figure("webhook_subscriptions_made") > made);
  }
}

const HIGHEST_CHARGE = 44;
const LOWEST_CHARGE = 5;
let percent = HIGHEST_CHARGE;
/**
 * One event of a battery. No robot begins with these percents, and one comes again only after all
 * the others, so that each is a change. What is just above a whole percent is not drained below
 * it before a snapshot shows it, while a whole one is within a tick of the simulated world.
 */
function charge(plant: FaultsHarness, robotId: string): number {
  percent = percent === LOWEST_CHARGE ? HIGHEST_CHARGE : percent - 1;
  plant.simulator().control.happen({ kind: "battery", robotId, percent: percent + 0.9 });
  return percent;
}

/**
 * How long it takes at most until what was delivered is relied on: a snapshot, and a look at the
 * subscriptions.
 */
const RELIEF_MS = 3_000;
const RELIEF_TRIES = 4;

/**
 * One event of each kind is delivered, and streams rest. On a machine so loaded that the subscriptions could
 * not be asked for in time there is a doubt, which takes another event to be dispelled: it gets one. A doubt
 * for want of deliveries would be a bug.
 */
async function relieved(plant: Plant, fleet: FleetHarness): Promise<void> {
  await subscribed(plant, fleet);
  const undelivered = fleet.figure("webhooks_undelivered");
  const isSuspended = () => fleet.figure("streams_suspended") === 2;
  for (let attempt = 1; attempt <= RELIEF_TRIES && !isSuspended(); attempt += 1) {
    charge(plant, "cart-01");
    await drive(fleet, "base-01", attempt % 2 === 1 ? "Table 1" : "Table 2");
    const untilMs = performance.now() + RELIEF_MS;
    await fleet.until("streams rest, in time", () => isSuspended() || performance.now() > untilMs);
  }
  expect(fleet.figure("streams_suspended"), fleet.health().detail).toBe(2);
  expect(fleet.figure("webhooks_undelivered")).toBe(undelivered);
}

async function drive(fleet: FleetHarness, robotId: string, destinationId: string): Promise<string> {
  const goal = { destinationId };
  const request = { robotId, mission: { baseMission: { navigateMission: { goal } } } };
  const ending = await fleet.port.call("CreateMission", JSON.stringify(request), 5_000);
  if (ending.kind !== "ok") throw new Error(JSON.stringify(ending));
  const { missionId } = ending;
  await fleet.event("mission", ({ queue }) =>
    queue.missions.some((mission) => mission.missionId === missionId && mission.state === "STATE_SUCCEEDED"),
  );
  return missionId ?? "";
}

/** Missions and batteries as they were told, by robot and number: none twice. */
function told(fleet: FleetHarness): readonly string[] {
  return fleet.events.flatMap((event) =>
    event.kind === "mission" || event.kind === "battery"
      ? [`${event.kind} ${event.robotId} ${event.stamp.sequence}`]
      : [],
  );
}

const ofBattery = (fleet: FleetHarness, robotId: string, charged: number) =>
  fleet.event("battery", (event) => event.robotId === robotId && event.battery.chargePercent === charged);

test("events come by webhook while streams rest between their snapshots: all of them, none twice", async () => {
  const plant = await openPlant();
  const fleet = await plant.listen();
  await relieved(plant, fleet);
  const received = fleet.figure("webhooks_received");
  await drive(fleet, "base-01", "Table 2");
  await drive(fleet, "base-01", "Table 1");
  // A snapshot may have told the last of them before its delivery.
  await fleet.until("all were delivered", () => fleet.figure("webhooks_received") > received + 3);
  await plant.settled(fleet);
  expect(new Set(told(fleet)).size).toBe(told(fleet).length);
  // Snapshots go on while streams rest, and renew what is held.
  const confirmed = await fleet.next("confirmed", ({ aspect }) => aspect === "battery");
  expect(confirmed.stream).toMatch(/^battery\//);
  await fleet.until("all is well", () => fleet.health().state === "up");
  expect((await plant.subscriptions()).map(({ eventType }) => eventType).sort()).toEqual([
    "battery",
    "mission",
  ]);
});

test("while streams rest they are told to be live, and nobody hears of a loss", async () => {
  const plant = await openPlant();
  const fleet = await plant.listen({ times: { resyncMs: 3_000 } });
  await relieved(plant, fleet);
  const before = fleet.events.length;
  await fleet.next("stream", ({ stream, state }) => stream.startsWith("mission/") && state === "live");
  await fleet.next("confirmed", ({ aspect }) => aspect === "mission");
  const since = fleet.events.slice(before);
  expect(since.filter((event) => event.kind === "stream" && event.state !== "live")).toEqual([]);
  expect(since.filter((event) => event.kind === "link")).toEqual([]);
});

test("a delivery without the secret, or with another, is refused before it is looked at", async () => {
  const plant = await openPlant();
  const fleet = await plant.listen();
  const secret = await plant.secret();
  const event = {
    robot_id: "cart-01",
    state: { metadata: null, battery_state: { charge_percent: 1, state: "STATE_FULL", charge_method: 0 } },
  };
  const post = (headers: Record<string, string>, more: { method?: string; body?: unknown } = {}) =>
    https({
      url: plant.options.publicUrl,
      ca: plant.ca,
      method: more.method ?? "POST",
      headers: { "x-service-webhook-event-id": "e1", ...headers },
      body: more.body ?? event,
    }).then(({ status }) => status);
  expect(await post({})).toBe(401);
  expect(await post({ "x-fleetgate-secret": `${secret.slice(0, -1)}_` })).toBe(401);
  expect(await post({ "x-fleetgate-secret": "" })).toBe(401);
  expect(fleet.figure("webhooks_unauthorized")).toBe(3);
  const known = { "x-fleetgate-secret": secret };
  expect(await post({ ...known, "x-service-webhook-event-id": "" })).toBe(400);
  expect(await post(known, { method: "PUT" })).toBe(405);
  expect(await post(known, { body: "x".repeat(1_100_000) })).toBe(413);
  expect(await post(known, { body: '{"robot_id":' })).toBe(204);
  await fleet.until("it was looked at", () => fleet.figure("webhooks_malformed") === 1);
  expect(fleet.figure("webhooks_unfit")).toBe(3);
  expect(told(fleet).filter((line) => line.endsWith("null"))).toEqual([]);
  await plant.settled(fleet);
});

test("the secret is the owner's alone, and in no answer", async () => {
  const plant = await openPlant();
  const fleet = await plant.listen();
  const secret = await plant.secret();
  expect((await stat(join(plant.options.directory, "webhook-secret.json"))).mode & 0o077).toBe(0);
  await subscribed(plant, fleet);
  const answer = await fleet.port.call("ListWebhooks", "{}", 10_000);
  expect(JSON.stringify(answer)).toContain("(hidden)");
  expect(JSON.stringify([answer, fleet.health()])).not.toContain(secret);
});

test("an event id that comes again is dropped, after a restart too; the subscriptions are taken over", async () => {
  const other = await startReceiver();
  closers.push(() => other.close());
  const plant = await openPlant({}, other.ca);
  const first = await plant.listen();
  await relieved(plant, first);
  // A second subscription shows what the service delivers, with the same event ids.
  const request = {
    url: other.url,
    eventType: "battery",
    selector: { robotIds: { ids: ["serve-01"] } },
  };
  const made = await plant.simulator().rest("POST", "/v1/webhook/create", request);
  expect(made.status).toBe(200);
  await ofBattery(first, "serve-01", charge(plant, "serve-01"));
  const { headers, body } = await other.next();
  const again = async () => {
    const eventId = String(headers["x-service-webhook-event-id"]);
    const answer = await https({
      url: plant.options.publicUrl,
      ca: plant.ca,
      method: "POST",
      headers: { "x-service-webhook-event-id": eventId, "x-fleetgate-secret": await plant.secret() },
      body,
    });
    expect(answer.status).toBe(204);
  };
  await first.until("it was delivered", () => first.figure("webhooks_received") > 0);
  await plant.settled(first);
  const repeated = first.figure("webhooks_repeated");
  const confirmations = first.events.length;
  await again();
  await first.until("the repeat was dropped", () => first.figure("webhooks_repeated") === repeated + 1);
  expect(
    first.events
      .slice(confirmations)
      .filter((event) => event.kind === "battery" && event.robotId === "serve-01"),
  ).toEqual([]);
  await first.stop();

  const second = await plant.listen();
  await again();
  await second.until("it is remembered", () => second.figure("webhooks_repeated") === 1);
  await relieved(plant, second);
  expect(second.figure("webhook_subscriptions_made")).toBe(0);
  expect(await plant.subscriptions()).toHaveLength(3);
  await plant.settled(second);
});

test("a subscription that the service has disabled is replaced and named; streams stand in meanwhile", async () => {
  const plant = await openPlant();
  const fleet = await plant.listen();
  await relieved(plant, fleet);
  await plant.deliveries.unplug();
  for (let event = 0; event < 25; event += 1) charge(plant, "cart-01");
  await fleet.until(
    "it is named",
    () => fleet.health().detail?.includes("disabled the subscription") ?? false,
  );
  expect(fleet.health().state).toBe("degraded");
  await ofBattery(fleet, "cart-02", charge(plant, "cart-02"));
  await plant.settled(fleet);
  await plant.deliveries.plug();
  await fleet.until("another was made", () => fleet.figure("webhook_subscriptions_made") === 3);
  await relieved(plant, fleet);
  await fleet.until("all is well", () => fleet.health().state === "up");
  const listed = await plant.subscriptions();
  expect(listed.map(({ eventType, enabled }) => `${eventType} ${enabled}`).sort()).toEqual([
    "battery true",
    "mission true",
  ]);
  await plant.settled(fleet);
});

test("a subscription that somebody deleted is made again", async () => {
  const plant = await openPlant();
  const fleet = await plant.listen();
  await relieved(plant, fleet);
  const { webhooks } = (await plant.simulator().rest("POST", "/v1/webhook/list", {})).json() as {
    webhooks: ReadonlyArray<{ id: string }>;
  };
  for (const { id } of webhooks) await plant.simulator().rest("POST", "/v1/webhook/delete", { id });
  await fleet.until("others were made", () => fleet.figure("webhook_subscriptions_made") === 4);
  await relieved(plant, fleet);
  await plant.settled(fleet);
});

test("deliveries that do not arrive are noticed by the next snapshot: streams stand in until they do", async () => {
  const plant = await openPlant();
  const fleet = await plant.listen();
  await relieved(plant, fleet);
  await plant.deliveries.unplug();
  charge(plant, "serve-02");
  await fleet.until(
    "it is doubted",
    () => fleet.health().detail?.includes("events are not delivered") ?? false,
  );
  expect(fleet.figure("webhooks_undelivered")).toBeGreaterThan(0);
  await fleet.until("a stream stands in", () => fleet.figure("streams_suspended") === 1);
  // The mission webhook was not doubted: nothing was missed there.
  await plant.settled(fleet);
  await plant.deliveries.plug();
  await relieved(plant, fleet);
  await fleet.until("all is well", () => fleet.health().state === "up");
});

test("a service that is away while streams are suspended is noticed, and found again with its subscriptions", async () => {
  const plant = await openPlant();
  const fleet = await plant.listen();
  await relieved(plant, fleet);
  const lost = fleet.next("stream", ({ stream, state }) => stream.startsWith("mission/") && state === "lost");
  const down = fleet.next("link", ({ state }) => state === "down");
  await plant.stopService();
  await Promise.all([lost, down]);
  await plant.replaceService();
  await fleet.next("link", ({ state }) => state === "up");
  await relieved(plant, fleet);
  expect(fleet.figure("webhook_subscriptions_made")).toBe(2);
  await plant.settled(fleet);
});

test.each([
  ["keep", 2],
  ["delete", 0],
] as const)("a gateway that stops leaves its subscriptions as configured: %s", async (onShutdown, left) => {
  const plant = await openPlant({ onShutdown });
  const fleet = await plant.listen();
  await relieved(plant, fleet);
  await fleet.stop();
  expect(await plant.subscriptions()).toHaveLength(left);
});

test("robots that the service refuses are left out of the subscriptions", async () => {
  const plant = await openPlant();
  const ids = ["cart-01", "base-01", "globex-01"];
  const fleet = await plant.startUnsettled({
    robots: { kind: "ids", ids },
    events: { kind: "webhook", webhook: plant.options },
  });
  await fleet.until("subscriptions were made", () => fleet.figure("webhook_subscriptions_made") === 2);
  await relieved(plant, fleet);
  expect(await plant.subscriptions()).toMatchObject([
    { selector: { robotIds: { ids: ["cart-01", "base-01"] } } },
    { selector: { robotIds: { ids: ["cart-01", "base-01"] } } },
  ]);
});

test("a port that another program has is said", async () => {
  const { options, deliveries } = await openPlant();
  const taken = { ...options, listen: { host: "127.0.0.1", port: deliveries.port } };
  const receiver = createReceiver(taken, systemClock, silentLog, () => {});
  await expect(receiver.open("secret")).rejects.toThrow(
    `port ${deliveries.port}, wanted for fleet.events, is taken`,
  );
  await receiver.close();
});
