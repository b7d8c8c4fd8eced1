import { afterEach, expect, test } from "vitest";
import { type FleetHarness, startFleetSession } from "../../support/fleet-harness.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/**
 * On each of the four connections that there may be; one in ten is kept for stops, and one stream for the
 * sign of life.
 */
const LIMIT = 10;
const FOR_ALL = 4 * 8;
const HANGS_MS = 1_500;
const missionRequest = JSON.stringify({
  robotId: "cart-01",
  mission: { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } },
});
const stopRequest = JSON.stringify({
  robotId: "cart-01",
  commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" }],
});
const asStop = { isStop: true, mayLeave: () => true };

/** All places but the last are taken by calls that the service does not answer. */
async function openFull() {
  const simulator = await startSimulator({ maxConcurrentStreams: LIMIT });
  closers.push(() => simulator.stop());
  const harness = await startFleetSession(simulator.endpoints, {
    robots: { kind: "ids", ids: ["cart-01"] },
    times: { rosterPollMs: null, taskChainPollMs: null },
  });
  closers.push(() => harness.stop());
  await harness.event("mission");
  simulator.control.apply({
    kind: "command",
    operation: "CreateMission",
    effect: "delay-not-taken",
    count: FOR_ALL,
  });
  const hung = Array.from({ length: FOR_ALL }, () => createMission(harness, HANGS_MS));
  await harness.until("all of them have come", () => received(simulator, "CreateMission") === FOR_ALL);
  return { simulator, harness, hung };
}

test("a call beyond what the service takes at once is not handed to the connection, where it would leave too late", async () => {
  const { simulator, harness, hung } = await openFull();
  expect(await createMission(harness, HANGS_MS, 200)).toEqual({
    kind: "not_sent",
    message: "32 calls are under way, and the service takes no more at once",
  });
  for (const ending of await Promise.all(hung)) {
    expect(ending).toMatchObject({ kind: "unknown", code: "DEADLINE_EXCEEDED" });
  }
  expect(await createMission(harness, HANGS_MS)).toMatchObject({ kind: "ok" });
  expect(received(simulator, "CreateMission")).toBe(FOR_ALL + 1);
});

test("a connection whose places are all taken is not taken for dead", async () => {
  const simulator = await startSimulator({ maxConcurrentStreams: LIMIT });
  closers.push(() => simulator.stop());
  const wire = await startTcpProxy(() => simulator.endpoints.grpc);
  closers.push(() => wire.close());
  // Longer than a busy machine lets this process wait for the processor.
  const silenceMs = 1_000;
  const harness = await startFleetSession(
    { ...simulator.endpoints, grpc: wire.address },
    {
      robots: { kind: "ids", ids: ["cart-01"] },
      times: { rosterPollMs: null, taskChainPollMs: null, streamSilenceMs: silenceMs },
    },
  );
  closers.push(() => harness.stop());
  await harness.event("mission");
  await harness.until("every stream is open", () => harness.figure("streams_open") === 3);
  const accepted = wire.accepted();
  simulator.control.apply({
    kind: "command",
    operation: "ControlConveyor",
    effect: "delay-not-taken",
    count: LIMIT,
  });
  const stops = Array.from({ length: LIMIT - 1 }, () =>
    harness.port.call("ControlConveyor", stopRequest, 3 * silenceMs, 3 * silenceMs, asStop),
  );
  for (const ending of await Promise.all(stops)) {
    expect(ending).toMatchObject({ kind: "unknown", code: "DEADLINE_EXCEEDED" });
  }
  expect(wire.accepted()).toBe(accepted);
});

test("another connection is made when the places of one are used up, and closed when it was not used for a while", async () => {
  const silenceMs = 400;
  const simulator = await startSimulator({ maxConcurrentStreams: LIMIT });
  closers.push(() => simulator.stop());
  const wire = await startTcpProxy(() => simulator.endpoints.grpc);
  closers.push(() => wire.close());
  const harness = await startFleetSession(
    { ...simulator.endpoints, grpc: wire.address },
    {
      robots: { kind: "ids", ids: ["cart-01"] },
      times: { rosterPollMs: null, taskChainPollMs: null, streamSilenceMs: silenceMs },
    },
  );
  closers.push(() => harness.stop());
  await harness.event("mission");
  const before = wire.connections();
  simulator.control.apply({
    kind: "command",
    operation: "CreateMission",
    effect: "delay-not-taken",
    count: FOR_ALL,
  });
  const hung = Array.from({ length: LIMIT }, () => createMission(harness, HANGS_MS));
  await harness.until("all of them have come", () => received(simulator, "CreateMission") === LIMIT);
  expect(wire.connections()).toBe(before + 1);
  expect([harness.figure("command_connections"), harness.figure("calls_under_way")]).toEqual([2, LIMIT]);
  await Promise.all(hung);
  await harness.until("it is closed", () => wire.connections() === before);
  expect([harness.figure("command_connections"), harness.figure("calls_under_way")]).toEqual([1, 0]);
});

test("a stop has a place that others leave free, and who waits comes in when a call is over", async () => {
  const { simulator, harness, hung } = await openFull();
  const next = createMission(harness, 10_000);
  const stopped = harness.port.call("ControlConveyor", stopRequest, HANGS_MS, HANGS_MS, asStop);
  expect(await Promise.race([stopped, next, ...hung])).toBe(await stopped);
  expect(await stopped).toMatchObject({ kind: "ok" });
  expect(received(simulator, "CreateMission")).toBe(FOR_ALL);
  await Promise.all(hung);
  expect(await next).toMatchObject({ kind: "ok" });
});

test("a start that waits for a place does not leave after a stop of its robot", async () => {
  const { simulator, harness, hung } = await openFull();
  let mayLeave = true;
  const start = harness.port.call("CreateMission", missionRequest, 10_000, 10_000, {
    isStop: false,
    mayLeave: () => mayLeave,
  });
  mayLeave = false;
  await Promise.all(hung);
  expect(await start).toEqual({
    kind: "not_sent",
    message: "a stop of the same robot overtook it before it left",
    byStop: true,
  });
  expect(received(simulator, "CreateMission")).toBe(FOR_ALL);
});

function createMission(harness: FleetHarness, deadlineMs: number, leaveWithinMs = deadlineMs) {
  return harness.port.call("CreateMission", missionRequest, deadlineMs, leaveWithinMs);
}

function received(simulator: RunningSimulator, operation: string): number {
  return simulator.control
    .record(0)
    .filter(({ fact }) => fact.what === "received" && "operation" in fact && fact.operation === operation)
    .length;
}
