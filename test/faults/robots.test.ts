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
const heard = (rig: FleetHarness, kind: "mission" | "battery", from = 0) =>
  new Set(rig.events.slice(from).flatMap((event) => (event.kind === kind ? [event.robotId] : [])));
const refused = (rig: FleetHarness) => rig.figure("robots_refused");

test("another's robot among fifty is set aside and named, and the others go on", async () => {
  const victim = ids[16] ?? "";
  const { startUnsettled } = await open(given(without(victim)));
  const rig = await startUnsettled({ robots: { kind: "ids", ids } });
  await rig.until(
    "the others are heard",
    () => heard(rig, "mission").size === 49 && heard(rig, "battery").size === 49,
  );
  expect(heard(rig, "mission")).not.toContain(victim);
  expect(refused(rig)).toBe(1);
  expect(rig.health()).toMatchObject({ state: "degraded", detail: expect.stringContaining(victim) });
});

test("a robot that nobody has is set aside and named", async () => {
  const { startUnsettled } = await open(given(fifty));
  const rig = await startUnsettled({
    robots: { kind: "ids", ids: [...ids.slice(0, 5), "ghost", ...ids.slice(5, 9)] },
  });
  await rig.until("the others are heard", () => heard(rig, "mission").size === 9);
  await rig.until("it is named", () => rig.health().detail?.includes("ghost") ?? false);
});

test("permission that is lost for one robot of fifty costs that robot alone, and is noticed when it returns", async () => {
  const { startUnsettled, replaceService } = await open(given(fifty));
  const rig = await startUnsettled({ robots: { kind: "ids", ids } });
  await rig.until("all are heard", () => heard(rig, "mission").size === 50);
  const victim = ids[30] ?? "";
  await replaceService(given(without(victim)));
  await rig.until("it is set aside", () => refused(rig) === 1);
  const alone = rig.events.length;
  await rig.until("the others are confirmed", () => {
    const confirmed = rig.events
      .slice(alone)
      .flatMap((event) => (event.kind === "confirmed" && event.aspect === "mission" ? [event.robotId] : []));
    return new Set(confirmed).size === 49 && !confirmed.includes(victim);
  });
  await replaceService(given(fifty));
  await rig.until("it is allowed again", () => refused(rig) === 0);
  await rig.next("confirmed", ({ robotId }) => robotId === victim);
});

test("a location that is another's is refused and named, and the first goes on", async () => {
  const { startUnsettled } = await open();
  const rig = await startUnsettled({ robots: { kind: "locations", locations: ["plant-1", "globex-plant"] } });
  await rig.until("the first is heard", () => heard(rig, "mission").size === 6);
  await rig.until("the other is named", () => rig.health().detail?.includes("PERMISSION_DENIED") ?? false);
  expect(rig.health().state).toBe("degraded");
});

test("a robot that appears at a location later is picked up, with its conveyors", async () => {
  const newcomer = acme.find(({ family }) => family === "cart")?.id ?? "";
  const { startUnsettled, replaceService } = await open(given(without(newcomer)));
  const rig = await startUnsettled({ robots: { kind: "locations", locations: ["plant-1"] } });
  await rig.until("the others are heard", () => heard(rig, "mission").size === 49);
  await replaceService(given(fifty));
  await rig.event("mission", ({ robotId }) => robotId === newcomer);
  await rig.event("conveyors", ({ robotId }) => robotId === newcomer);
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
    const rig = await startUnsettled({ robots: { kind: "locations", locations: ["plant-1"] } });
    // Missions, batteries, and a stream for each cart, which are met one after the other.
    const wanted = 2 + acme.filter(({ family }) => family === "cart").length;
    const isWell = () => rig.health().state === "up" && rig.figure("streams_wanted") === wanted;
    await rig.until("all is well", isWell);
    await rig.event("conveyors", ({ robotId }) => robotId === cart);
    await replaceService(given(plant(cart)));
    await rig.until("its stream is gone", () => rig.figure("streams_wanted") === wanted - 1);
    await rig.until("all is well without it", () => rig.health().state === "up");
    expect(refused(rig)).toBe(0);
    await replaceService(given(fifty));
    await rig.next("conveyors", ({ robotId }) => robotId === cart);
    await rig.until("all is well again", isWell);
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
  const rig = await startElsewhere({
    grpcAddress: service.address,
    robots: { kind: "ids", ids: ["r1"] },
  });
  const { robotId } = await rig.event("mission");
  expect(robotId).toBe("r1");
  await rig.until("it is said", () => rig.health().detail?.includes("UNIMPLEMENTED") ?? false);
  expect(rig.health().state).toBe("degraded");
  expect(await rig.port.call("SkipGoal", '{"robotId":"r1"}', 1_000)).toMatchObject({
    kind: "refused",
    code: "UNIMPLEMENTED",
  });
  await rig.stop();
  await service.close();
});

test("a robot that goes offline is shown as good no more, and is again when it is back, with what it did meanwhile", async () => {
  const { start, good, settled, simulator } = await open();
  const rig = await start();
  const { control } = simulator();
  control.happen({ kind: "offline", robotId: "cart-02" });
  await rig.next("roster", ({ robots }) => robots.every(({ robotId }) => robotId !== "cart-02"));
  // Of the truth nothing is left out, and nothing is shown beyond it.
  await settled(rig);
  expect(good(rig)).not.toContain("cart-02");
  expect(good(rig)).toHaveLength(5);
  control.happen({ kind: "conveyor-payload", robotId: "cart-02", index: 2, loaded: true });
  control.happen({ kind: "battery", robotId: "cart-02", percent: 17.5 });
  control.happen({ kind: "online", robotId: "cart-02" });
  await settled(rig);
  expect(good(rig)).toContain("cart-02");
});

test("a robot that is blocked, one that ran flat and one that is charged by wire are shown as they are", async () => {
  const { start, good, settled, simulator } = await open();
  const rig = await start();
  const { control } = simulator();
  control.happen({ kind: "blocked", robotId: "cart-01" });
  control.happen({ kind: "battery", robotId: "serve-01", percent: 0 });
  control.happen({ kind: "wired", robotId: "serve-02", plugged: true });
  await settled(rig);
  expect(good(rig)).toHaveLength(6);
  control.happen({ kind: "unblocked", robotId: "cart-01" });
});
