import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StatusFacts, statusReport } from "../../../src/northbound/web/status-report.ts";
import { standingAlarm } from "../../support/test-alarms.ts";
import { createTestCluster } from "../../support/test-cluster.ts";
import { type ControlHarness, createControlHarness, wellFacts } from "./control-harness.ts";

const report = (facts: Partial<StatusFacts>) => statusReport({ ...wellFacts, ...facts }, 100_000_000);

describe("GET /api/v1/status", () => {
  let harness: ControlHarness;
  beforeEach(async () => {
    harness = await createControlHarness();
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  it("answers 200 with the whole document, whatever the state is", async () => {
    expect(await harness.ask("GET", "/api/v1/status")).toMatchObject({
      status: 200,
      body: { state: "up", problems: [], gateway: { id: "plant1" } },
    });
    harness.facts.now = { ...wellFacts, health: { fleet: { state: "down", detail: "no token" } } };
    expect(await harness.ask("GET", "/api/v1/status")).toMatchObject({
      status: 200,
      body: { state: "down", problems: ["fleet is down: no token"] },
    });
  });
});

describe("the status", () => {
  it("says what there is", () => {
    expect(
      report({ certificates: [{ key: "mqtt.certificate", path: "/c.pem", endMs: 100_060_000 }] }),
    ).toEqual({
      state: "up",
      problems: [],
      at: "1970-01-02T03:46:40.000Z",
      gateway: {
        id: "plant1",
        version: "1.2.3",
        session_id: "s1",
        started_at: "1970-01-01T02:45:39.000Z",
        uptime_seconds: 90_061,
      },
      links: [
        { name: "fleet", state: "up", since: "1970-01-01T00:00:01.000Z", detail: "3 of 3 streams are open" },
      ],
      parts: ["commands", "queues", "process"].map((name) => ({
        name,
        state: "up",
        since: "1970-01-01T00:00:01.000Z",
        detail: "",
      })),
      robots: {
        count: 1,
        by_quality: { good: 1, stale: 0, offline: 0, lost: 0, unknown: 0 },
        out_of_service: 0,
        not_good: [],
      },
      holds: { count: 0, listed: [] },
      queues: [{ northbound: "opcua", events_queued: 4, events_dropped: 0 }],
      commands: { in_hand: 2, waiting: 1 },
      alarms: { count: 0, active: 0, unacknowledged: 0, listed: [] },
      token: { seconds_left: 3_000 },
      certificates: [
        { key: "mqtt.certificate", path: "/c.pem", ends_at: "1970-01-02T03:47:40.000Z", seconds_left: 60 },
      ],
      waiting_clients: { count: 0, listed: [] },
      disk: { path: "/data", free_bytes: 12e9 },
      memory: { rss_bytes: 2e8, heap_bytes: 9e7 },
    });
  });

  it("has the place in the cluster, if there is one", () => {
    expect(report({ cluster: null })).not.toHaveProperty("cluster");
    const cluster = createTestCluster("right");
    const place = { member: "right", members: ["left", "right"], role: "standby", epoch: 0, leader: null };
    expect(report({ cluster })).toMatchObject({ state: "up", cluster: { ...place, lag_ms: 0 } });
    cluster.change({ epoch: 7, leader: "left", lagMs: 1_234.5, robotsInDoubt: 2 });
    expect(report({ cluster })).toMatchObject({
      cluster: { ...place, epoch: 7, leader: "left", lag_ms: 1_235, robots_in_doubt: 2 },
    });
    for (const [isActive, role] of [
      [true, "leader"],
      [false, "no proof"],
    ] as const) {
      cluster.change({ isActive, epoch: 8, leader: "right" });
      expect(report({ cluster })).toMatchObject({ cluster: { role, epoch: 8, leader: "right" } });
    }
  });

  it("lists who holds which robot since when: all robots first, then the longest", () => {
    const hold = (robotId: string | null, name: string, sinceMs: number) => {
      return { robotId, owner: { protocol: "opcua", name }, sinceMs } as const;
    };
    const holds = [hold("r2", "plc2", 2_000), hold("r1", "plc1", 1_000), hold(null, "hmi", 3_000)];
    const since = (second: number) => `1970-01-01T00:00:0${second}.000Z`;
    expect(report({ holds })).toMatchObject({
      state: "up",
      holds: {
        count: 3,
        listed: [
          { robot_id: null, by: "opcua:hmi", since: since(3) },
          { robot_id: "r1", by: "opcua:plc1", since: since(1) },
          { robot_id: "r2", by: "opcua:plc2", since: since(2) },
        ],
      },
    });
    const many = Array.from({ length: 300 }, (_, at) => hold(`r${at}`, "plc1", at));
    const { holds: found } = report({ holds: many }) as { holds: { count: number; listed: unknown[] } };
    expect([found.count, found.listed.length]).toEqual([300, 200]);
  });

  it("names the worst part first, then alarms, then robots", () => {
    const health = { a: { state: "degraded", detail: "slow" }, b: { state: "down" } } as const;
    const alarms = [standingAlarm("ROBOT_LOST", "r2"), standingAlarm("DISK_FULL", "")];
    const robots = ["r1", "r2", "r3"].map((robotId, at) => ({
      robotId,
      family: "cart" as const,
      quality: (["good", "lost", "stale"] as const)[at] ?? "good",
    }));
    expect(report({ health, alarms, robots })).toMatchObject({
      state: "down",
      problems: [
        "b is down",
        "a is degraded: slow",
        "2 alarms are active, first DISK_FULL: found",
        "2 of 3 robots are not good: r2 (lost), r3 (stale)",
      ],
      alarms: {
        count: 2,
        active: 2,
        unacknowledged: 2,
        listed: [{ code: "DISK_FULL" }, { code: "ROBOT_LOST" }],
      },
      robots: { count: 3, by_quality: { good: 1, lost: 1, stale: 1 }, not_good: [{ robot_id: "r2" }, {}] },
    });
  });

  it("is degraded by an alarm or a robot alone, but not by an alarm of low priority or one that has returned", () => {
    expect(report({ alarms: [standingAlarm("ROBOT_LOST", "r1")] })).toMatchObject({
      state: "degraded",
      problems: ["an alarm is active: ROBOT_LOST of r1: found"],
    });
    const returned = { ...standingAlarm("DISK_FULL", ""), isActive: false };
    expect(report({ alarms: [standingAlarm("BATTERY_LOW", "r1"), returned] })).toMatchObject({
      state: "up",
      alarms: { count: 2, active: 1 },
    });
    const lost = [{ robotId: "r1", family: "cart", quality: "lost" }] as const;
    expect(report({ robots: lost })).toMatchObject({ state: "degraded" });
    expect(report({ robots: lost, isOutOfService: () => true })).toMatchObject({
      state: "up",
      robots: { out_of_service: 1, not_good: [{ robot_id: "r1", out_of_service: true }] },
    });
  });

  it("is bounded with 1,000 robots of long names that are all lost, with an alarm each", () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => `${"x".repeat(250)}${at}`);
    const facts = {
      robots: ids.map((robotId) => ({ robotId, family: "cart", quality: "lost" }) as const),
      alarms: ids.map((robotId) => standingAlarm("ROBOT_LOST", robotId)),
    };
    const begin = process.cpuUsage();
    const text = JSON.stringify(report(facts));
    const { user, system } = process.cpuUsage(begin);
    expect(text.length).toBeLessThan(150_000);
    // A hundred times what it takes.
    expect((user + system) / 1_000).toBeLessThan(200);
    expect(report(facts)).toMatchObject({
      robots: { count: 1_000, not_good: { length: 200 } },
      alarms: { count: 1_000, listed: { length: 50 } },
    });
  });

  it("has the edge node of Sparkplug among the links, and why it is not born", () => {
    const health = { sparkplug: { state: "up", detail: "waits for the primary host scada" } } as const;
    expect(report({ health })).toMatchObject({
      links: [{ name: "sparkplug", state: "up", detail: "waits for the primary host scada" }],
      parts: [],
    });
  });

  it("says what is not known", () => {
    expect(
      report({
        health: {},
        stateSinceMs: () => null,
        certificates: [{ key: "opcua", path: "/c.pem", endMs: Number.POSITIVE_INFINITY }],
        disk: { path: "/data", freeBytes: null },
      }),
    ).toMatchObject({
      state: "starting",
      links: [],
      token: { seconds_left: null },
      certificates: [{ ends_at: null, seconds_left: null }],
      disk: { free_bytes: null },
    });
  });
});
