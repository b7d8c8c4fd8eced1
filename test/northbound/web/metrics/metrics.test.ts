import { expect, it } from "vitest";
import type { Readings } from "../../../../src/contracts/metrics.ts";
import type { Alarm } from "../../../../src/domain/alarm.ts";
import { createCatalogue } from "../../../../src/fleet/operations.ts";
import { createMeter } from "../../../../src/northbound/web/metrics/meter.ts";
import { createMetrics, type MetricsParts } from "../../../../src/northbound/web/metrics/metrics.ts";
import { readExposition } from "../../../support/exposition.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { createTestCluster } from "../../../support/test-cluster.ts";

const noCounts = { messages: 0, repeats: 0, missed: 0, outdated: 0, malformed: 0, resets: 0, regressed: 0 };
const quiet: Readings = {
  robots: () => [],
  streams: () => ({ mission: noCounts, battery: noCounts, conveyors: noCounts }),
  link: () => ({ isUp: true, changedAtMs: 1_700_000_000_400 }),
  alarms: () => [],
  certificateEnds: () => [],
  diskFreeBytes: () => null,
};

function metricsOf(readings: Partial<Readings> = {}, parts: Partial<MetricsParts> = {}) {
  const clock = createManualClock();
  const metrics = createMetrics({
    version: "1.2.3",
    meter: createMeter(createCatalogue().keys()),
    readings: { ...quiet, ...readings },
    health: () => ({}),
    clock,
    ...parts,
  });
  return { ...metrics, clock, read: async () => readExposition(await metrics.text()) };
}

it("is Prometheus' text format, with the process's metrics under their usual names", async () => {
  const { contentType, read } = metricsOf();
  expect(contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  const { metrics, value } = await read();
  expect(metrics.get("process_cpu_seconds_total")?.type).toBe("counter");
  expect(metrics.has("nodejs_eventloop_lag_p99_seconds")).toBe(true);
  expect(value("fleetgate_build_info", { version: "1.2.3", node: process.version })).toBe(1);
  expect(value("fleetgate_fleet_link_changed_timestamp_seconds")).toBe(1_700_000_000);
});

it("leaves out the delay of the event loop where none was measured since the last scrape", async () => {
  const { read, clock } = metricsOf();
  const mean = async () =>
    (await read()).samples.find(({ name }) => name === "nodejs_eventloop_lag_mean_seconds")?.value;
  // Node.js measures every few milliseconds.
  await expect.poll(mean).toBeGreaterThan(0);
  clock.advance(1_000);
  // Every call but the first is sooner than the next measurement.
  const { samples } = await read();
  const lag = samples.filter(({ name }) => name.startsWith("nodejs_eventloop_lag_"));
  expect(lag.filter(({ value }) => !(value >= 0 && value < 60))).toEqual([]);
});

it("says nothing of what is not configured or not known", async () => {
  const { metrics, samples } = await metricsOf().read();
  for (const name of ["fleetgate_mqtt_connected", "fleetgate_disk_free_bytes", "fleetgate_opcua_sessions"]) {
    expect(metrics.has(name)).toBe(true);
    expect(samples.filter((sample) => sample.name === name)).toEqual([]);
  }
});

it("has the place in the cluster, if there is one", async () => {
  const names = ["active", "epoch", "lag_seconds"].map((name) => `fleetgate_cluster_${name}`);
  const none = await metricsOf().read();
  for (const name of names) expect(none.metrics.has(name)).toBe(false);
  const cluster = createTestCluster("left");
  cluster.change({ isActive: true, epoch: 2 ** 40, lagMs: 1_500 });
  const { value } = await metricsOf({}, { cluster }).read();
  expect(names.map((name) => value(name))).toEqual([1, 2 ** 40, 1.5]);
});

it("reads figures of the health, the queues by northbound, and the state of each part", async () => {
  const { value } = await metricsOf(
    {},
    {
      health: () => ({
        fleet: { state: "degraded", figures: { streams_open: 4, streams_wanted: 5, token_seconds_left: 60 } },
        queues: { state: "up", figures: { "mqtt.eventsQueued": 7, "opcua.eventsQueued": 1 } },
      }),
    },
  ).read();
  expect(value("fleetgate_fleet_streams_open")).toBe(4);
  expect(value("fleetgate_queue_events", { northbound: "mqtt" })).toBe(7);
  expect(value("fleetgate_queue_events", { northbound: "opcua" })).toBe(1);
  expect(value("fleetgate_part_state", { part: "fleet", state: "degraded" })).toBe(1);
  expect(value("fleetgate_part_state", { part: "fleet", state: "up" })).toBe(0);
});

it("shows when certificates end that can be read", async () => {
  const certificates = [
    { key: "mqtt.certificate", endMs: 1_800_000_000_400 },
    { key: "opcua", endMs: Number.POSITIVE_INFINITY },
  ];
  const { samples } = await metricsOf({ certificateEnds: () => certificates }).read();
  const name = "fleetgate_certificate_expiry_timestamp_seconds";
  expect(samples.filter((sample) => sample.name === name)).toEqual([
    { name, labels: { certificate: "mqtt.certificate" }, value: 1_800_000_000 },
  ]);
});

it("counts alarms by code, those of all conveyors as one", async () => {
  const alarm = (code: Alarm["code"], isActive: boolean): Alarm => ({
    ...{ id: code, code, source: { kind: "gateway" }, severity: 600, text: "", isActive, sinceMs: 0 },
    ...{ returnedAtMs: null, occurrences: 1, acknowledged: null, comment: null, revision: 1, changedAtMs: 0 },
  });
  const alarms = [
    alarm("CONVEYOR_ERROR_3", true),
    alarm("CONVEYOR_ERROR_99", true),
    alarm("ROBOT_LOST", false),
  ];
  const { value } = await metricsOf({ alarms: () => alarms }).read();
  const conveyor = { code: "CONVEYOR_ERROR", priority: "high" };
  expect(value("fleetgate_alarms_active", conveyor)).toBe(2);
  expect(value("fleetgate_alarms_active", { code: "ROBOT_LOST" })).toBe(0);
  expect(value("fleetgate_alarms_unacknowledged", { code: "ROBOT_LOST" })).toBe(1);
  expect(value("fleetgate_alarms_active", { code: "DISK_FULL", priority: "high" })).toBe(0);
});

it("shares one text among all that scrape within half a second, and recovers from a failure", async () => {
  let scrapes = 0;
  let fails = false;
  const { text, clock } = metricsOf({
    robots() {
      scrapes += 1;
      if (fails) throw new Error("broken");
      return [];
    },
  });
  const texts = await Promise.all(Array.from({ length: 200 }, text));
  expect(scrapes).toBe(1);
  expect(new Set(texts).size).toBe(1);
  clock.advance(500);
  fails = true;
  await expect(text()).rejects.toThrow("broken");
  fails = false;
  await text();
  expect(scrapes).toBe(3);
});

it("is small with 1,000 robots and every command there is, and names none of the robots", async () => {
  const catalogue = createCatalogue();
  const meter = createMeter(catalogue.keys());
  for (const protocol of ["mqtt", "opcua", "web", "cli", "gateway"] as const) {
    for (const outcome of ["succeeded", "refused", "expired", "unknown", "probably_succeeded"] as const) {
      for (const operation of [...catalogue.keys(), "made up"])
        meter.commandEnded({ protocol, operation, outcome, durationMs: 10 });
    }
  }
  const robots = Array.from({ length: 1_000 }, (_unused, index) => ({
    robotId: `robot-with-a-name-${index}`,
    family: "cart" as const,
    quality: index % 2 === 0 ? ("good" as const) : ("lost" as const),
  }));
  const { text, read } = metricsOf({ robots: () => robots }, { meter });
  const scraped = await text();
  expect(Buffer.byteLength(scraped)).toBeLessThan(300_000);
  expect(scraped).not.toContain("robot-with-a-name");
  const { value } = await read();
  expect(value("fleetgate_robots", { quality: "good" })).toBe(500);
  expect(value("fleetgate_robots", { quality: "lost" })).toBe(500);
  expect(value("fleetgate_robots", { quality: "stale" })).toBe(0);
});
