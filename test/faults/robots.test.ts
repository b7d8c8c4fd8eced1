import { expect, test } from "vitest";
import { generatedScenario } from "../../src/simulator/scenario/generated-scenario.ts";
import type { Scenario } from "../../src/simulator/scenario/scenario.ts";
import type { FleetHarness } from "../support/fleet-harness.ts";
import { eachWithItsHarness } from "./faults-harness.ts";
import { startOneStreamService } from "./one-stream-service.ts";

const { open } = eachWithItsHarness();

const fifty = generatedScenario({ robots: 50, lively: "none", seed: 1 });
const acme = fifty.world.robots.filter(({ location }) => location === "plant-1");
const ids = acme.map(({ id }) => id);

/** The plant in which this robot belongs to somebody else. */
function without(robotId: string): Scenario {
  const robots = fifty.world.robots.map((robot) =>
    robot.id === robotId ? { ...robot, location: "globex-plant" } : robot,
  );
  return { ...fifty, world: { ...fifty.world, robots } };
}

const given = (scenario: Scenario) => ({ scenario: { kind: "given" as const, scenario } });
const received = (fleet: FleetHarness, kind: "mission" | "battery", from = 0) =>
  new Set(fleet.events.slice(from).flatMap((event) => (event.kind === kind ? [event.robotId] : [])));
const refused = (fleet: FleetHarness) => fleet.figure("robots_refused");

test("another's robot among fifty is set aside and named, and the others go on", async () => {
  const victim = ids[16] ?? "";
  const { startUnsettled } = await open(given(without(victim)));
  const fleet = await startUnsettled({ robots: { kind: "ids", ids } });
  await fleet.until(
    "the others are heard",
    () => received(fleet, "mission").size === 49 && received(fleet, "battery").size === 49,
  );
  expect(received(fleet, "mission")).not.toContain(victim);
  expect(refused(fleet)).toBe(1);
  expect(fleet.health()).toMatchObject({ state: "degraded", detail: expect.stringContaining(victim) });
});

test("a robot that nobody has is set aside and named", async () => {
  const { startUnsettled } = await open(given(fifty));
  const fleet = await startUnsettled({
    robots: { kind: "ids", ids: [...ids.slice(0, 5), "ghost", ...ids.slice(5, 9)] },
  });
  await fleet.until("the others are heard", () => received(fleet, "mission").size === 9);
  await fleet.until("it is named", () => fleet.health().detail?.includes("ghost") ?? false);
});

test("permission that is lost for one robot of fifty costs that robot alone, and is noticed when it returns", async () => {
  const { startUnsettled, replaceService } = await open(given(fifty));
  const fleet = await startUnsettled({ robots: { kind: "ids", ids } });
  await fleet.until("all are heard", () => received(fleet, "mission").size === 50);
  const victim = ids[30] ?? "";
  await replaceService(given(without(victim)));
  await fleet.until("it is set aside", () => refused(fleet) === 1);
  const alone = fleet.events.length;
  await fleet.until("the others are confirmed", () => {
    const confirmed = fleet.events
      .slice(alone)
      .flatMap((event) => (event.kind === "confirmed" && event.aspect === "mission" ? [event.robotId] : []));
    return new Set(confirmed).size === 49 && !confirmed.includes(victim);
  });
  await replaceService(given(fifty));
  await fleet.until("it is allowed again", () => refused(fleet) === 0);
  await fleet.next("confirmed", ({ robotId }) => robotId === victim);
});

test("a location that is another's is refused and named, and the first goes on", async () => {
  const { startUnsettled } = await open();
  const fleet = await startUnsettled({
    robots: { kind: "locations", locations: ["plant-1", "globex-plant"] },
  });
  await fleet.until("the first is heard", () => received(fleet, "mission").size === 6);
  await fleet.until(
    "the other is named",
    () => fleet.health().detail?.includes("PERMISSION_DENIED") ?? false,
  );
  expect(fleet.health().state).toBe("degraded");
});

test("a robot that appears at a location later is picked up, with its conveyors", async () => {
  const newcomer = acme.find(({ family }) => family === "cart")?.id ?? "";
  const { startUnsettled, replaceService } = await open(given(without(newcomer)));
  const fleet = await startUnsettled({ robots: { kind: "locations", locations: ["plant-1"] } });
  await fleet.until("the others are heard", () => received(fleet, "mission").size === 49);
  await replaceService(given(fifty));
  await fleet.event("mission", ({ robotId }) => robotId === newcomer);
  await fleet.event("conveyors", ({ robotId }) => robotId === newcomer);
});

/** The plant that this robot was taken out of. */
function lacking(robotId: string): Scenario {
  return {
    ...fifty,
    world: { ...fifty.world, robots: fifty.world.robots.filter(({ id }) => id !== robotId) },
  };
}

test.each([
  ["is another's now", without],
  ["is nowhere now", lacking],
])(
  "a cart that %s is no longer asked for, and is again, with its conveyors, when it is back",
  async (_, plant) => {
    const cart = acme.find(({ family }) => family === "cart")?.id ?? "";
    const { startUnsettled, replaceService } = await open(given(fifty));
    const fleet = await startUnsettled({ robots: { kind: "locations", locations: ["plant-1"] } });
    // Missions, batteries, and a stream for each cart, which are met one after the other.
    const wanted = 2 + acme.filter(({ family }) => family === "cart").length;
    const isWell = () => fleet.health().state === "up" && fleet.figure("streams_wanted") === wanted;
    await fleet.until("all is well", isWell);
    await fleet.event("conveyors", ({ robotId }) => robotId === cart);
    await replaceService(given(plant(cart)));
    await fleet.until("its stream is gone", () => fleet.figure("streams_wanted") === wanted - 1);
    await fleet.until("all is well without it", () => fleet.health().state === "up");
    expect(refused(fleet)).toBe(0);
    await replaceService(given(fifty));
    await fleet.next("conveyors", ({ robotId }) => robotId === cart);
    await fleet.until("all is well again", isWell);
  },
);

test("a service without the battery stream serves the missions all the same", async () => {
  const { startElsewhere, simulator } = await open();
  // One message, with a robot's name and nothing else.
  const service = await startOneStreamService(
    simulator().endpoints.ca,
    "/fleet.v1.FleetService/SubscribeMissionStatus",
    Buffer.from([0x12, 2, 0x72, 0x31]),
  );
  const fleet = await startElsewhere({
    grpcAddress: service.address,
    robots: { kind: "ids", ids: ["r1"] },
  });
  const { robotId } = await fleet.event("mission");
  expect(robotId).toBe("r1");
  await fleet.until("it is said", () => fleet.health().detail?.includes("UNIMPLEMENTED") ?? false);
  expect(fleet.health().state).toBe("degraded");
  expect(await fleet.port.call("SkipGoal", '{"robotId":"r1"}', 10_000)).toMatchObject({
    kind: "refused",
    code: "UNIMPLEMENTED",
  });
  await fleet.stop();
  await service.close();
});

test("a robot that goes offline is shown as good no more, and is again when it is back, with what it did meanwhile", async () => {
  const { start, good, settled, simulator } = await open();
  const fleet = await start();
  const { control } = simulator();
  control.happen({ kind: "offline", robotId: "cart-02" });
  await fleet.next("roster", ({ robots }) => robots.every(({ robotId }) => robotId !== "cart-02"));
  // Of the truth nothing is left out, and nothing is shown beyond it.
  await settled(fleet);
  expect(good(fleet)).not.toContain("cart-02");
  expect(good(fleet)).toHaveLength(5);
  control.happen({ kind: "conveyor-payload", robotId: "cart-02", index: 2, loaded: true });
  control.happen({ kind: "battery", robotId: "cart-02", percent: 17.5 });
  control.happen({ kind: "online", robotId: "cart-02" });
  await settled(fleet);
  expect(good(fleet)).toContain("cart-02");
});

test("a robot that is blocked, one that ran flat and one that is charged by wire are shown as they are", async () => {
  const { start, good, settled, simulator } = await open();
  const fleet = await start();
  const { control } = simulator();
  control.happen({ kind: "blocked", robotId: "cart-01" });
  control.happen({ kind: "battery", robotId: "serve-01", percent: 0 });
  control.happen({ kind: "wired", robotId: "serve-02", plugged: true });
  await settled(fleet);
  expect(good(fleet)).toHaveLength(6);
  control.happen({ kind: "unblocked", robotId: "cart-01" });
});
