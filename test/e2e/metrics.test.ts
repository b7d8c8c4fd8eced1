import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { havePromtool, promtool } from "../prometheus/promtool.ts";
import { type Exposition, readExposition } from "../support/exposition.ts";
import { metricNames } from "../support/promql.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";

let harness: E2eHarness;
let isClosed = false;

beforeAll(async () => {
  harness = await openE2eHarness({}, { commands: { drainMs: 3_000 } });
  await harness.plc.shows("Robots.cart-01.Valid", true);
});
afterAll(() => (isClosed ? undefined : harness.close()));

async function scrape(): Promise<Exposition> {
  const response = await fetch(`${harness.webUrl}/metrics`);
  expect(response.status).toBe(200);
  return readExposition(await response.text());
}

it("shows what the gateway is connected to, and its robots", async () => {
  const { value } = await scrape();
  expect(value("fleetgate_fleet_link_up")).toBe(1);
  expect(value("fleetgate_mqtt_connected")).toBe(1);
  expect(value("fleetgate_mqtt_broker_index")).toBe(0);
  expect(value("fleetgate_fleet_streams_open")).toBe(value("fleetgate_fleet_streams_expected"));
  expect(value("fleetgate_robots", { quality: "good" })).toBeGreaterThan(0);
  expect(value("fleetgate_opcua_sessions")).toBeGreaterThan(0);
  expect(value("fleetgate_opcua_nodes")).toBeGreaterThan(1_000);
  expect(value("fleetgate_disk_free_bytes")).toBeGreaterThan(0);
  expect(value("fleetgate_fleet_token_expiry_timestamp_seconds")).toBeGreaterThan(Date.now() / 1_000);
});

it("counts commands by protocol, operation and outcome; a sender cannot add a label", async () => {
  const goal = { destinationId: "Home 4" };
  const request = { robotId: "base-01", mission: { baseMission: { navigateMission: { goal } } } };
  const sent = await harness.mqtt.send("CreateMission", "metrics-1", request);
  await Promise.all(
    Array.from({ length: 20 }, (_unused, number) =>
      harness.mqtt.sendText(`MadeUp${number}`, JSON.stringify({ id: `made-up-${number}`, request: {} })),
    ),
  );
  expect(sent.outcome).toBe("succeeded");
  const made = { protocol: "mqtt", operation: "CreateMission", outcome: "succeeded" };
  await expect
    .poll(async () => (await scrape()).value("fleetgate_commands_total", { operation: "other" }))
    .toBe(20);
  await expect
    .poll(async () => (await scrape()).value("fleetgate_message_age_seconds_count", { stream: "mission" }))
    .toBeGreaterThan(0);
  const { value, samples } = await scrape();
  expect(value("fleetgate_commands_total", made)).toBe(1);
  expect(value("fleetgate_command_duration_seconds_count", { operation: "CreateMission" })).toBe(1);
  expect(samples.filter(({ labels }) => JSON.stringify(labels).includes("MadeUp"))).toEqual([]);
});

it("the page lists each metric of the gateway with its labels, and each has help and a type", async () => {
  // The OPC UA server's own certificate is found when the server has made it.
  const certificates = "fleetgate_certificate_expiry_timestamp_seconds";
  await expect
    .poll(async () => (await scrape()).samples.some(({ name }) => name === certificates))
    .toBe(true);
  const { metrics, samples } = await scrape();
  const own = [...metrics].filter(([name]) => name.startsWith("fleetgate_"));
  for (const [name, { type, help }] of own) {
    expect(["counter", "gauge", "histogram"], name).toContain(type);
    expect(help.length, name).toBeGreaterThan(10);
  }
  const shown = new Map(own.map(([name]) => [name, new Set<string>()]));
  for (const { name, labels } of samples) {
    const metric = name.replace(/_(bucket|sum|count)$/, "");
    for (const label of Object.keys(labels)) if (label !== "le") shown.get(metric)?.add(label);
  }
  // This gateway is no member of a cluster.
  const cells = readFileSync("docs/metrics.md", "utf8").matchAll(/^\| (`fleetgate_(?!cluster_).+?) \|/gm);
  const listed = Array.from(cells).flatMap(([, cell = ""]) =>
    Array.from(
      cell.matchAll(/`(\w+)(?:\{([^}]*)\})?`/g),
      ([, name = "", labels = ""]) => [name, Array.from(labels.matchAll(/\w+/g), String)] as const,
    ),
  );
  const sorted = (rows: Iterable<readonly [string, Iterable<string>]>) =>
    Array.from(rows, ([name, labels]) => `${name} ${[...labels].sort().join(" ")}`).sort();
  expect(sorted(listed)).toEqual(sorted(shown));
});

it("is on the control socket too, where a person reads the same", async () => {
  const { socketPath } = harness;
  const [response] = (await once(get({ socketPath, path: "/metrics" }), "response")) as [IncomingMessage];
  expect(response.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(readExposition(await text(response)).value("fleetgate_fleet_link_up")).toBe(1);
});

it("every metric of the alerts and of the dashboard exists", async () => {
  const { seriesNames } = await scrape();
  const expressions = await Promise.all(
    ["config/prometheus-alerts.yml", "config/grafana-dashboard.json"].map(async (path) => {
      const found = expressionsIn(parse(await readFile(path, "utf8")));
      expect(found.length, path).toBeGreaterThan(20);
      return found;
    }),
  );
  const asked = new Set(expressions.flat().flatMap(metricNames));
  expect(asked.size).toBeGreaterThan(40);
  // Prometheus itself makes it for each target.
  asked.delete("up");
  expect([...asked].filter((name) => !seriesNames.has(name))).toEqual([]);
});

it.runIf(havePromtool)("promtool finds nothing to improve in the gateway's own metrics", async () => {
  const response = await fetch(`${harness.webUrl}/metrics`);
  const own = (await response.text()).split("\n").filter((line) => /^(# \w+ )?fleetgate_/.test(line));
  expect(promtool(["check", "metrics"], `${own.join("\n")}\n`)).toEqual({ code: 0, said: "" });
});

it("a gateway is ready although the fleet service is away", async () => {
  await harness.stopService();
  await expect.poll(async () => (await scrape()).value("fleetgate_fleet_link_up")).toBe(0);
  expect(await ready()).toEqual([200, { ready: true }]);
  await harness.startService();
  await expect.poll(async () => (await scrape()).value("fleetgate_robots", { quality: "lost" })).toBe(0);
});

it("a gateway that stops is not ready, although it still waits for a command", async () => {
  const { control } = harness.simulator();
  const quality = { quality: "good" };
  await expect.poll(async () => (await scrape()).value("fleetgate_robots", quality)).toBeGreaterThan(5);
  control.apply({ kind: "command", operation: "CreateMission", effect: "delay-not-taken", count: 1 });
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Home 4" } } } };
  const request = { robotId: "base-01", mission };
  const command = { id: "metrics-2", expires_in_ms: 60_000, request };
  await harness.mqtt.sendText("CreateMission", JSON.stringify(command));
  await expect.poll(async () => (await scrape()).value("fleetgate_commands_in_flight")).toBeGreaterThan(0);
  isClosed = true;
  const closed = harness.close();
  await expect.poll(ready, { interval: 10 }).toEqual([503, { ready: false, reason: "it stops" }]);
  await closed;
});

async function ready(): Promise<readonly unknown[]> {
  const response = await fetch(`${harness.webUrl}/readyz`);
  return [response.status, await response.json()];
}

/** Every value of a key `expr`, however deep. */
function expressionsIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "expr" ? [String(inner)] : expressionsIn(inner),
  );
}
