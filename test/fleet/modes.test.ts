import { afterEach, expect, test } from "vitest";
import { detectionLimits, type EventWay } from "../../src/domain/detection.ts";
import { defaultFleetTimes } from "../../src/fleet/options.ts";
import { openWebhookEntrance } from "../daemon/webhook-entrance.ts";
import { type FleetHarness, startFleetSession } from "../support/fleet-harness.ts";
import { createPatientClock, type PatientClock } from "../support/patient-clock.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type HungWire, openHungWire } from "./hung-wire.ts";

/** Times at which a loss shows within a test. */
const times = {
  ...defaultFleetTimes,
  streamSilenceMs: 1_200,
  resyncMs: 4_000,
  connectMs: 600,
  callMs: 1_500,
  backoffBaseMs: 20,
  backoffCapMs: 200,
};
/** What may pass until a timer that is due is heard of. */
const SLACK_MS = 500;

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Plant {
  /** The time of both sides: a pause of this process is no silence. */
  readonly clock: PatientClock;
  readonly harness: FleetHarness;
  readonly simulator: RunningSimulator;
  readonly grpc: HungWire;
  readonly https: HungWire;
  /** The way of webhooks. */
  readonly deliveries: HungWire;
}

type Transport = "grpc" | "rest";

/** A session in a mode, in which it knows its robots; where webhooks bring events, streams rest. */
async function openPlant(events: EventWay, transport: Transport): Promise<Plant> {
  const protocol = await openWebhookEntrance();
  closers.push(() => protocol.close());
  const clock = createPatientClock();
  closers.push(async () => clock.close());
  const simulator = await startSimulator({
    clock,
    timeFactor: 20,
    unsafeWebhookTargets: { trustedCa: protocol.trustedCa },
  });
  closers.push(() => simulator.stop());
  const { endpoints } = simulator;
  const grpc = await openHungWire(endpoints.grpc);
  closers.push(() => grpc.close());
  const https = await openHungWire(new URL(endpoints.https).host);
  closers.push(() => https.close());
  const { listen } = protocol.options;
  const deliveries = await openHungWire(`${listen.host}:${listen.port}`);
  closers.push(() => deliveries.close());
  const webhook = { ...protocol.options, publicUrl: `https://${deliveries.address}/hook` };
  const harness = await startFleetSession(
    { ...endpoints, grpc: grpc.address, https: `https://${https.address}` },
    {
      clock,
      times,
      transport,
      events: events === "streams" ? { kind: "streams" } : { kind: "webhook", webhook },
    },
  );
  closers.push(() => harness.stop());
  await harness.until("streams are open", () => harness.figure("streams_open") >= 4);
  if (events === "webhook") await relieve(harness, simulator);
  return { clock, harness, simulator, grpc, https, deliveries };
}

/** One event of each kind is delivered, and the streams of missions and batteries rest. */
async function relieve(harness: FleetHarness, simulator: RunningSimulator): Promise<void> {
  await harness.until("subscriptions were made", () => harness.figure("webhook_subscriptions_made") === 2);
  charge(simulator, 31);
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } };
  await harness.port.call("CreateMission", JSON.stringify({ robotId: "base-01", mission }), 5_000);
  await harness.until("streams are suspended", () => harness.figure("streams_suspended") === 2);
}

function charge(simulator: RunningSimulator, percent: number): void {
  // What is just above a whole percent is not drained below it soon.
  simulator.control.happen({ kind: "battery", robotId: "serve-01", percent: percent + 0.9 });
}

/** From now until the missions' stream, the batteries', a conveyor's, and the link are told to be lost. */
function losses({ clock, harness }: Plant) {
  const sinceMs = clock.monotonicMs();
  const took = async (told: Promise<unknown>) => {
    await told;
    return clock.monotonicMs() - sinceMs;
  };
  const lost = (name: string) =>
    took(harness.next("stream", ({ stream, state }) => stream.startsWith(name) && state === "lost"));
  return {
    mission: lost("mission/"),
    battery: lost("battery/"),
    conveyors: lost("conveyors/"),
    link: took(harness.next("link", ({ state }) => state === "down")),
  };
}

const limitsOf = (events: EventWay) => detectionLimits({ ...times, holdMs: 0 }, events);

test.each<[EventWay, Transport]>([
  ["streams", "grpc"],
  ["streams", "rest"],
  ["webhook", "grpc"],
  ["webhook", "rest"],
])(
  "a service that falls silent is noticed as check says: %s, commands over %s",
  async (events, transport) => {
    const plant = await openPlant(events, transport);
    const { silentMs, deliveries } = limitsOf(events);
    // The silence is then no older than one look.
    await plant.harness.next(
      "stream",
      ({ stream, state }) => stream.startsWith("mission/") && state === "live",
    );
    plant.grpc.hang("lost");
    plant.https.hang("lost");
    const told = losses(plant);
    expect(await told.mission).toBeLessThan((deliveries?.goneMs ?? silentMs) + SLACK_MS);
    expect(await told.battery).toBeLessThan((deliveries?.goneMs ?? silentMs) + SLACK_MS);
    expect(await told.conveyors).toBeLessThan(silentMs + SLACK_MS);
    expect(await told.link).toBeLessThan((deliveries?.linkGoneMs ?? silentMs) + SLACK_MS);
    expect(await told.mission).toBeGreaterThan(times.streamSilenceMs / 2);

    plant.grpc.goOn();
    plant.https.goOn();
    const backAtMs = plant.clock.monotonicMs();
    await Promise.all(
      ["mission/", "battery/", "conveyors/"].map((name) =>
        plant.harness.next("stream", ({ stream, state }) => stream.startsWith(name) && state === "live"),
      ),
    );
    await plant.harness.until("every stream is open", () => plant.harness.figure("streams_open") === 5);
    const backMs = plant.clock.monotonicMs() - backAtMs;
    expect(backMs).toBeLessThan(Math.max(times.connectMs, times.backoffCapMs) + 2_000 + SLACK_MS);
  },
  60_000,
);

test("streams that are cut and do not come back are told as check says, and by webhook the conveyors'", async () => {
  for (const events of ["streams", "webhook"] as const) {
    const plant = await openPlant(events, "grpc");
    const told = losses(plant);
    plant.grpc.hang("lost");
    plant.grpc.cut();
    expect(await told.conveyors).toBeLessThan(limitsOf(events).streamCutMs + SLACK_MS);
    if (events === "streams")
      expect(await told.mission).toBeLessThan(limitsOf(events).streamCutMs + SLACK_MS);
    // Nobody waits for the rest.
    for (const each of Object.values(told)) each.catch(() => {});
  }
}, 60_000);

test("gRPC alone is gone, with webhooks and REST: events come all the same, until a snapshot is due", async () => {
  const plant = await openPlant("webhook", "rest");
  const { harness, simulator } = plant;
  const { madeUpMs } = limitsOf("webhook");
  plant.grpc.hang("lost");
  const told = losses(plant);
  charge(simulator, 22);
  await harness.next("battery", ({ battery }) => battery.chargePercent === 22);
  expect(await told.mission).toBeLessThan(madeUpMs + times.connectMs + SLACK_MS);
  expect(await told.battery).toBeLessThan(madeUpMs + times.connectMs + SLACK_MS);
  await told.link;
}, 60_000);

test("a delivery that is lost is made up by the next snapshot; when none arrive any more, streams stand in", async () => {
  const plant = await openPlant("webhook", "grpc");
  const { clock, harness, simulator, deliveries } = plant;
  const limits = limitsOf("webhook");
  deliveries.hang("lost");
  const sinceMs = clock.monotonicMs();
  charge(simulator, 11);
  await harness.next("battery", ({ battery }) => battery.chargePercent === 11);
  expect(clock.monotonicMs() - sinceMs).toBeLessThan(limits.madeUpMs + SLACK_MS);
  await harness.until("streams stand in", () => harness.figure("streams_suspended") < 2);
  expect(clock.monotonicMs() - sinceMs).toBeLessThan((limits.deliveries?.standInMs ?? 0) + SLACK_MS);
}, 60_000);
