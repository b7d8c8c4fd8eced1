import { Registry } from "prom-client";
import { expect, it } from "vitest";
import type { EndedCommand } from "../../../../src/contracts/metrics.ts";
import type { FleetEvent } from "../../../../src/domain/event.ts";
import type { FleetUpdate } from "../../../../src/domain/update.ts";
import { createMeter, type PromMeter } from "../../../../src/northbound/web/metrics/meter.ts";
import { type Exposition, readExposition } from "../../../support/exposition.ts";

const receivedAtMs = Date.UTC(2026, 0, 2);

async function scrape({ metrics }: PromMeter): Promise<Exposition> {
  const registry = new Registry();
  for (const metric of metrics) registry.registerMetric(metric);
  return readExposition(await registry.metrics());
}

function mission(ageMs: number | null): FleetUpdate {
  const stamp = { sourceTimeMs: ageMs === null ? null : receivedAtMs - ageMs, sequence: 1, receivedAtMs };
  const queue = { missions: [], currentMissionIndex: 0 };
  return { kind: "mission", robotId: "r1", stream: "s", stamp, queue };
}

function reached(to: Extract<FleetEvent, { kind: "mission" }>["to"]): FleetEvent {
  const robot = { robotId: "r1", missionId: "m1", owner: "api", command: null };
  return { kind: "mission", eventId: "e1", ...robot, atMs: 0, from: null, to };
}

const ended: EndedCommand = {
  protocol: "mqtt",
  operation: "CreateMission",
  outcome: "succeeded",
  durationMs: 120,
};

it("counts commands by protocol, operation and outcome, and how long those took that were sent", async () => {
  const meter = createMeter(["CreateMission"]);
  meter.commandEnded(ended);
  meter.commandEnded({ ...ended, durationMs: 480 });
  meter.commandEnded({ ...ended, outcome: "refused", durationMs: null });
  const scraped = await scrape(meter);
  const labels = { protocol: "mqtt", operation: "CreateMission" };
  expect(scraped.value("fleetgate_commands_total", { ...labels, outcome: "succeeded" })).toBe(2);
  expect(scraped.value("fleetgate_commands_total", { ...labels, outcome: "refused" })).toBe(1);
  expect(scraped.value("fleetgate_command_duration_seconds_count")).toBe(2);
  expect(scraped.value("fleetgate_command_duration_seconds_sum")).toBeCloseTo(0.6);
  expect(scraped.value("fleetgate_command_duration_seconds_bucket", { le: "0.25" })).toBe(1);
});

it("has a series for each outcome before the first command, or Prometheus would miss the first", async () => {
  const { value } = await scrape(createMeter(["CreateMission"]));
  for (const protocol of ["mqtt", "opcua", "web", "cli", "gateway"]) {
    const labels = { protocol, operation: "CreateMission", outcome: "unknown" };
    expect(value("fleetgate_commands_total", labels), protocol).toBe(0);
  }
  expect(value("fleetgate_command_duration_seconds_count", { operation: "CreateMission" })).toBe(0);
});

it("has one label value for all operations that senders make up", async () => {
  const meter = createMeter(["CreateMission"]);
  for (let number = 0; number < 1_000; number += 1)
    meter.commandEnded({
      ...ended,
      operation: `made-up "${number}"\n`,
      outcome: "refused",
      durationMs: null,
    });
  const scraped = await scrape(meter);
  const operations = scraped.samples.flatMap(({ labels }) => labels.operation ?? []);
  expect(new Set(operations)).toEqual(new Set(["CreateMission", "other"]));
  expect(scraped.value("fleetgate_commands_total", { operation: "other" })).toBe(1_000);
});

it("sees the age of messages, and never lets a sum fall when a robot's clock is ahead", async () => {
  const meter = createMeter([]);
  meter.received(mission(40), []);
  meter.received(mission(1_960), []);
  meter.received(mission(-90_000), []);
  meter.received(mission(null), []);
  const scraped = await scrape(meter);
  const stream = { stream: "mission" };
  expect(scraped.value("fleetgate_message_age_seconds_count", stream)).toBe(3);
  expect(scraped.value("fleetgate_message_age_seconds_sum", stream)).toBe(2);
  expect(scraped.value("fleetgate_message_age_seconds_bucket", { ...stream, le: "0.05" })).toBe(2);
  expect(scraped.value("fleetgate_messages_ahead_total", stream)).toBe(1);
  expect(scraped.value("fleetgate_message_age_seconds_count", { stream: "battery" })).toBe(0);
});

it("leaves out what a wrong clock says: one robot would spoil the sum of all", async () => {
  const meter = createMeter([]);
  const update = mission(1_000);
  if (update.kind !== "mission") throw new Error("no mission");
  meter.received({ ...update, stamp: { ...update.stamp, sourceTimeMs: 0, isClockWrong: true } }, []);
  const scraped = await scrape(meter);
  expect(scraped.value("fleetgate_message_age_seconds_count", { stream: "mission" })).toBe(0);
});

it("leaves out snapshots: a robot that stands for a week shows what it recorded then", async () => {
  const meter = createMeter([]);
  const week = mission(7 * 86_400_000);
  meter.received({ ...week, isSnapshot: true } as FleetUpdate, []);
  meter.received({ ...mission(-90_000), isSnapshot: true } as FleetUpdate, []);
  meter.received({ ...mission(1_000), isSnapshot: false } as FleetUpdate, []);
  const { value } = await scrape(meter);
  const stream = { stream: "mission" };
  expect(value("fleetgate_message_age_seconds_count", stream)).toBe(1);
  expect(value("fleetgate_message_age_seconds_sum", stream)).toBe(1);
  expect(value("fleetgate_messages_ahead_total", stream)).toBe(0);
});

it("counts the states that missions reach, those without a name as other", async () => {
  const meter = createMeter([]);
  meter.received(mission(0), [reached("STATE_FAILED"), reached({ kind: "unrecognised", raw: 77 })]);
  const scraped = await scrape(meter);
  expect(scraped.value("fleetgate_mission_events_total", { to: "failed" })).toBe(1);
  expect(scraped.value("fleetgate_mission_events_total", { to: "other" })).toBe(1);
  expect(scraped.value("fleetgate_mission_events_total", { to: "running" })).toBe(0);
});
