import { readFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parseScenario } from "../../src/simulator/scenario/scenario.ts";
import { type FleetHarness, type FleetOverrides, startFleetSession } from "../support/fleet-harness.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";

let simulator: RunningSimulator;
const harnesses: FleetHarness[] = [];
beforeAll(async () => {
  simulator = await startSimulator({ timeFactor: 50 });
});
afterEach(async () => {
  await Promise.all(harnesses.splice(0).map((harness) => harness.stop()));
});
afterAll(() => simulator.stop());

async function start(overrides: FleetOverrides = {}): Promise<FleetHarness> {
  const harness = await startFleetSession(simulator.endpoints, overrides);
  harnesses.push(harness);
  return harness;
}

const carts = ["cart-01", "cart-02", "cart-03"];
const all = [...carts, "serve-01", "serve-02", "base-01"];

test("every robot of a location is told of, with its mission, its battery, and a cart's conveyors", async () => {
  const harness = await start();
  await harness.until("all robots were told of", () => {
    const robots = new Set(
      harness.events.flatMap((event) => (event.kind === "robot" ? [event.robotId] : [])),
    );
    return all.every((robotId) => robots.has(robotId));
  });
  for (const robotId of all) {
    await harness.event("mission", (event) => event.robotId === robotId);
    await harness.event("battery", (event) => event.robotId === robotId);
  }
  for (const robotId of carts) {
    const { conveyors } = await harness.event("conveyors", (event) => event.robotId === robotId);
    expect(conveyors.length).toBeGreaterThan(0);
    await harness.event("robot", (event) => event.robotId === robotId && event.family === "cart");
  }
  await harness.until("the session is up", () => harness.health().state === "up");
});

test("a mission that is sent comes back on the stream", async () => {
  const harness = await start({ robots: { kind: "ids", ids: ["cart-01"] } });
  await harness.event("mission");
  const ending = await harness.port.call(
    "CreateMission",
    JSON.stringify({
      robotId: "cart-01",
      mission: { cartMission: { navigateMission: { goal: { destinationId: "Station A" } } } },
    }),
    5_000,
  );
  if (ending.kind !== "ok") throw new Error(JSON.stringify(ending));
  expect(ending.responseJson).toBe(JSON.stringify({ mission_id: ending.missionId }));
  const seen = await harness.event("mission", ({ queue }) =>
    queue.missions.some(
      ({ missionId, state }) => missionId === ending.missionId && state === "STATE_SUCCEEDED",
    ),
  );
  expect(seen.queue.missions.at(-1)).toMatchObject({
    owner: "api",
    type: { family: "cart", type: "CART_TYPE_NAVIGATE" },
    goals: [{ kind: "destination", destinationId: "Station A" }],
  });
});

test("the roster is told every turn, for the robots that the gateway is for", async () => {
  const harness = await start({
    robots: { kind: "ids", ids: ["serve-01"] },
    times: { rosterPollMs: 50 },
  });
  const roster = await harness.event("roster", ({ robots }) => robots.length > 0);
  expect(roster.robots.map(({ robotId }) => robotId)).toEqual(["serve-01"]);
  const { info } = roster.robots[0]?.presence ?? {};
  expect(info).toMatchObject({
    name: "serve-01",
    load_status: expect.any(String),
    coordinate: { x: expect.any(Number) },
  });
  await harness.next("roster");
});

test("where robots are told of by location, their presence does not wait a whole period for the second list", async () => {
  const harness = await start({ times: { rosterPollMs: 3_600_000 } });
  const { robots } = await harness.event("roster", (event) => event.robots.length > 0);
  expect(robots.length).toBeGreaterThan(0);
});

test("the same operation gives the same ending over gRPC and over REST", async () => {
  const requests: ReadonlyArray<readonly [string, object]> = [
    ["GetConveyorIndex", { robotId: "cart-01" }],
    ["GetConveyorIndex", { robotId: "base-01" }],
    ["GetConveyorIndex", { robotId: "nobody" }],
    ["GetConveyorIndex", { robotId: "globex-01" }],
    ["SkipGoal", { robotId: "serve-02" }],
    ["GetOnlineRobots", {}],
    ["QueryTaskChain", { taskChainIds: [1, 2] }],
    ["FinishTaskChain", { taskChainId: 99 }],
    ["GetMap", { mapId: 1 }],
    ["PauseRobot", { amrId: 1, stopNow: true }],
  ];
  const overGrpc = await start({ transport: "grpc", robots: { kind: "ids", ids: all } });
  const overRest = await start({ transport: "rest", robots: { kind: "ids", ids: all } });
  await overGrpc.event("mission");
  await overRest.event("mission");
  for (const [operation, request] of requests) {
    const json = JSON.stringify(request);
    const [grpc, rest] = await Promise.all([
      overGrpc.port.call(operation, json, 5_000),
      overRest.port.call(operation, json, 5_000),
    ]);
    expect({ operation, request, ending: rest }).toEqual({ operation, request, ending: grpc });
  }
});

test("a subscription is renewed, new before old: confirmed downstream, with no gap and no repeat", async () => {
  const harness = await start({ times: { resyncMs: 300 } });
  await harness.until("renewals confirmed every mission", () => {
    const confirmed = harness.events.filter(
      (event) => event.kind === "confirmed" && event.aspect === "mission",
    );
    return new Set(confirmed.map((event) => "robotId" in event && event.robotId)).size === all.length;
  });
  const battery = harness.events.filter((event) => event.kind === "battery");
  expect(new Set(battery.map((event) => JSON.stringify([event.robotId, event.stamp.sequence]))).size).toBe(
    battery.length,
  );
  expect(harness.events.filter((event) => event.kind === "stream" && event.state !== "live")).toEqual([]);
  expect(harness.events.filter((event) => event.kind === "link" && event.state === "down").length).toBe(1);
});

test("a service goes by its maker's own name, on streams and on calls", async () => {
  const other = await startSimulator({ serviceNames: ["maker.api.Robots"] });
  const harness = await startFleetSession(other.endpoints, { serviceName: "maker.api.Robots" });
  harnesses.push(harness);
  await harness.event("mission");
  await harness.event("conveyors");
  expect(await harness.port.call("GetConveyorIndex", '{"robotId":"cart-01"}', 5_000)).toMatchObject({
    kind: "ok",
  });
  await harness.until("the session is up", () => harness.health().state === "up");
  await harness.stop();
  await other.stop();
});

test("several locations are several streams, each robot by its own", async () => {
  const scenario = parseScenario(
    (await readFile("config/scenarios/plant.yaml", "utf8"))
      .replace(/^( *- \{ id: plant-1, distributor: acme \})$/m, "$1\n  - { id: plant-2, distributor: acme }")
      .replace(/(id: base-01[\s\S]*?location: )plant-1/, "$1plant-2"),
  );
  const other = await startSimulator({ scenario: { kind: "given", scenario } });
  const locations = ["plant-1", "plant-2"];
  const harness = await startFleetSession(other.endpoints, { robots: { kind: "locations", locations } });
  harnesses.push(harness);
  const by = (robotId: string) => harness.event("mission", (event) => event.robotId === robotId);
  expect((await by("base-01")).stream).toBe("mission/plant-2");
  expect((await by("cart-01")).stream).toBe("mission/plant-1");
  await harness.until("all streams are open", () => harness.figure("streams_open") === 4 + carts.length);
  const crossed = harness.events.filter(
    (event) =>
      event.kind === "mission" && (event.robotId === "base-01") !== (event.stream === "mission/plant-2"),
  );
  expect(crossed).toEqual([]);
  await harness.stop();
  await other.stop();
});
