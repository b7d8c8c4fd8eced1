import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultOpcUaLimits } from "../../../src/northbound/opcua/options.ts";
import { batteryChange, robotChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const ROBOTS = 1_000;
let running: RunningServer;
let caller: Caller;

beforeAll(async () => {
  running = await startServer({ limits: { ...defaultOpcUaLimits, maxRobots: ROBOTS } });
  caller = await openSession(running.url);
});
afterAll(async () => {
  await caller.close();
  await running.stop();
});

const figures = () => running.server.health().figures ?? {};
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a thousand robots", () => {
  it("get their nodes in slices, and nobody waits for them", async () => {
    const ids = Array.from({ length: ROBOTS }, (_unused, index) => `robot-${index}`);
    running.server.write({
      changes: ids.flatMap((id) => [robotChange(id, "good"), batteryChange(id, 50), batteryChange(id, 51)]),
      events: [],
    });
    expect(figures().robots).toBe(0);
    expect(figures().robotsWaiting).toBe(ROBOTS);
    let turns = 0;
    for (; figures().robotsWaiting !== 0; turns += 1) await turn();
    // A slice is a few robots; all at once would be one turn of seconds.
    expect(turns).toBeGreaterThan(50);
    expect(await caller.value("Robots.robot-999.Battery.ChargePercent")).toBe(51);
    expect(await caller.value("Robots.robot-999.Valid")).toBe(true);
  }, 60_000);

  it("answer a client while they are built", async () => {
    const other = await startServer();
    const client = await openSession(other.url);
    other.server.write({
      changes: Array.from({ length: ROBOTS }, (_unused, index) => robotChange(`robot-${index}`, "good")),
      events: [],
    });
    await client.value("Gateway.Heartbeat");
    expect(other.server.health().figures?.robotsWaiting).toBeGreaterThan(0);
    await client.close();
    await other.stop();
  });

  it("are all there may be", async () => {
    running.server.write({ changes: [robotChange("one too many", "good")], events: [] });
    running.server.write({ changes: [robotChange("one too many", "stale")], events: [] });
    expect(figures().robotsRefused).toBe(1);
    expect(figures().robotsWaiting).toBe(0);
  });
});
