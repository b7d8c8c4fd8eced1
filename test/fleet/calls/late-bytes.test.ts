import { afterEach, expect, test } from "vitest";
import type { FleetTimes } from "../../../src/fleet/options.ts";
import { startLateWire } from "../../cluster/chaos/late-wire.ts";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { startSimulator } from "../../support/simulator.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A session whose gRPC connections a wire can hold up. No poll and no renewal disturbs. */
async function open(times: Partial<FleetTimes> = {}) {
  const simulator = await startSimulator();
  closers.push(() => simulator.stop());
  const { endpoints } = simulator;
  const wire = await startLateWire(Number(endpoints.grpc.split(":").at(-1)));
  closers.push(() => wire.close());
  const harness = await startFleetSession(
    { ...endpoints, grpc: `localhost:${wire.port}` },
    { times: { rosterPollMs: null, taskChainPollMs: null, ...times } },
  );
  closers.push(() => harness.stop());
  await harness.until("the service is reached", () => harness.health().state === "up");
  const arrived = () => simulator.control.record(0).filter(({ fact }) => fact.what === "received").length;
  return { wire, harness, arrived };
}

/** A command has left long before on a busy machine, too. */
const DEADLINE_MS = 2_000;
const mission = { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } };
const request = JSON.stringify({ robotId: "base-01", mission });

test("a command that was given up at its deadline does not arrive later", async () => {
  const { wire, harness, arrived } = await open();
  wire.die();
  const ending = await harness.port.call("CreateMission", request, DEADLINE_MS);
  expect(ending).toMatchObject({ kind: "unknown", code: "DEADLINE_EXCEEDED" });
  await harness.until("its connection is not used again", () => harness.health().state !== "up");
  await wire.heal();
  await harness.until("the service is reached", () => harness.health().state === "up");
  expect(arrived()).toBe(0);
  expect(await harness.port.call("CreateMission", request, 10_000)).toMatchObject({ kind: "ok" });
  expect(arrived()).toBe(1);
});

test("a command under way does not arrive after the process has cut its connections", async () => {
  const { wire, harness, arrived } = await open();
  wire.die();
  const ending = harness.port.call("CreateMission", request, 10_000);
  await wire.next("held");
  const reset = wire.next("reset");
  harness.cut();
  expect(await ending).toMatchObject({ kind: "unknown" });
  await reset;
  await wire.heal();
  await harness.until("the service is reached", () => harness.health().state === "up");
  expect(arrived()).toBe(0);
});

test("a read that was given up does not count as a sign that an earlier command has arrived", async () => {
  const { wire, harness, arrived } = await open();
  wire.die();
  const command = harness.port.call("CreateMission", request, 2 * DEADLINE_MS);
  const robot = JSON.stringify({ robotId: "base-01" });
  const read = await harness.port.call("GetConveyorIndex", robot, DEADLINE_MS);
  expect(read).toMatchObject({ kind: "unknown", code: "DEADLINE_EXCEEDED" });
  expect(await command).toMatchObject({ kind: "unknown", code: "DEADLINE_EXCEEDED" });
  await harness.until("its connection is not used again", () => harness.health().state !== "up");
  await wire.heal();
  await harness.until("the service is reached", () => harness.health().state === "up");
  expect(arrived()).toBe(0);
});

test("a command does not arrive after its connection was given up for want of an answer to a ping", async () => {
  const { wire, harness, arrived } = await open({ keepaliveMs: 1_000, keepaliveTimeoutMs: 1_000 });
  wire.die();
  const reset = wire.next("reset");
  const ending = await harness.port.call("CreateMission", request, 20_000);
  expect(ending).toMatchObject({ kind: "unknown", message: "Connection dropped" });
  await reset;
  await wire.heal();
  await harness.until("the service is reached", () => harness.health().state === "up");
  expect(arrived()).toBe(0);
});

/** A session whose HTTPS connections a wire can hold up. The wire goes dead when a command leaves by it. */
async function openHttps() {
  const simulator = await startSimulator();
  closers.push(() => simulator.stop());
  const wire = await startLateWire(Number(new URL(simulator.endpoints.https).port));
  closers.push(() => wire.close());
  const harness = await startFleetSession(
    { ...simulator.endpoints, https: `https://localhost:${wire.port}` },
    { transport: "rest", times: { rosterPollMs: null, taskChainPollMs: null } },
  );
  closers.push(() => harness.stop());
  await harness.until("there is a token", () => harness.figure("token_seconds_left") > 0);
  const reset = wire.next("reset");
  const order = { isStop: false, mayLeave: () => true, leaves: () => wire.die() };
  const create = (deadlineMs: number) =>
    harness.port.call("CreateMission", request, deadlineMs, deadlineMs, order);
  /** The wire is healed, and a second command arrives alone. */
  const arrivesAlone = async () => {
    await reset;
    await wire.heal();
    expect(await harness.port.call("CreateMission", request, 10_000)).toMatchObject({ kind: "ok" });
    expect(simulator.control.record(0).filter(({ fact }) => fact.what === "received")).toHaveLength(1);
  };
  return { wire, harness, create, arrivesAlone };
}

test("a command over HTTPS that was given up at its deadline does not arrive later", async () => {
  const { create, arrivesAlone } = await openHttps();
  expect(await create(DEADLINE_MS)).toMatchObject({ kind: "unknown", code: "DEADLINE_EXCEEDED" });
  await arrivesAlone();
});

test("a command under way over HTTPS does not arrive after the process has cut its connections", async () => {
  const { wire, harness, create, arrivesAlone } = await openHttps();
  const ending = create(10_000);
  await wire.next("held");
  harness.cut();
  expect(await ending).toMatchObject({ kind: "unknown", code: "UNAVAILABLE" });
  await arrivesAlone();
});
