import { expect, test } from "vitest";
import type { FleetHarness } from "../support/fleet-harness.ts";
import { eachWithItsHarness } from "./faults-harness.ts";

const { open } = eachWithItsHarness();

const navigate = (robotId: string) =>
  JSON.stringify({
    robotId,
    mission: { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } },
  });
/** An answer comes in time on a busy machine too. */
const ANSWERED_MS = 10_000;
const create = (fleet: FleetHarness, robotId = "base-01", deadlineMs = 2_000) =>
  fleet.port.call("CreateMission", navigate(robotId), deadlineMs);

test.each([
  ["internal-before", "INTERNAL"],
  ["internal-after", "INTERNAL"],
  ["delay-taken", "DEADLINE_EXCEEDED"],
  ["delay-not-taken", "DEADLINE_EXCEEDED"],
  ["delay-taken-late", "DEADLINE_EXCEEDED"],
] as const)("a command that ends %s is unknown", async (effect, code) => {
  const { start, settled, simulator } = await open({ confirmWaitMs: 500 });
  const fleet = await start();
  simulator().control.apply({ kind: "command", operation: "CreateMission", effect, count: 1 });
  expect(await create(fleet, "base-01", ANSWERED_MS)).toMatchObject({ kind: "unknown", code });
  await settled(fleet);
});

test.each(["grpc", "rest"] as const)("refusals over %s are what the service said", async (transport) => {
  const { start } = await open();
  const fleet = await start({ transport });
  const ending = (operation: string, request: object) =>
    fleet.port.call(operation, JSON.stringify(request), ANSWERED_MS);
  expect(await create(fleet, "nobody", ANSWERED_MS)).toMatchObject({ kind: "refused", code: "NOT_FOUND" });
  expect(await create(fleet, "globex-01", ANSWERED_MS)).toMatchObject({
    kind: "refused",
    code: "PERMISSION_DENIED",
  });
  expect(await ending("GetConveyorIndex", { robotId: "base-01" })).toMatchObject({
    kind: "refused",
    code: "INVALID_ARGUMENT",
  });
  expect(await ending("SkipGoal", { robotId: "base-01" })).toMatchObject({
    kind: "refused",
    code: "FAILED_PRECONDITION",
  });
});

test("a call that outlives its deadline is unknown", async () => {
  const { start, simulator } = await open();
  const fleet = await start({ times: { streamSilenceMs: 60_000, callMs: 20_000 } });
  simulator().control.apply({ kind: "silence" });
  const startedAtMs = Date.now();
  expect(await create(fleet, "base-01", 400)).toMatchObject({ kind: "unknown", code: "DEADLINE_EXCEEDED" });
  expect(Date.now() - startedAtMs).toBeLessThan(10_000);
  simulator().control.clearFaults();
});

test("a connection that is cut under a call leaves its ending unknown", async () => {
  const { start, settled, simulator, wire } = await open({ confirmMs: 1_000 });
  const fleet = await start();
  const ending = create(fleet, "base-01", 5_000);
  const sent = () =>
    simulator()
      .control.record(0)
      .some((entry) => JSON.stringify(entry).includes("CreateMission"));
  await fleet.until("the service has it", sent);
  wire.cut();
  expect(await ending).toMatchObject({ kind: "unknown", code: "UNAVAILABLE" });
  await settled(fleet);
});

test("without a connection nothing is sent, over gRPC and over REST", async () => {
  const { start, startUnsettled, wire, stopService } = await open();
  const overGrpc = await start();
  const overRest = await startUnsettled({ transport: "rest" });
  await overRest.event("mission");
  await wire.unplug();
  await stopService();
  await overGrpc.until("the loss was noticed", () => overGrpc.health().detail?.includes("commands") ?? false);
  expect(await create(overGrpc)).toMatchObject({ kind: "not_sent" });
  expect(await create(overRest)).toMatchObject({ kind: "not_sent" });
});

test("a dead connection of commands is found out before a command needs it", async () => {
  const { start, wire } = await open();
  const fleet = await start({ times: { streamSilenceMs: 400 } });
  wire.stall();
  await fleet.until(
    "it was noticed",
    () => fleet.health().detail?.includes("no connection for commands") ?? false,
  );
  expect(await create(fleet, "base-01", 500)).toMatchObject({ kind: "not_sent" });
  wire.cut();
  wire.resume();
});

test("a request that no operation has decoded is not sent", async () => {
  const { start } = await open();
  const fleet = await start();
  expect(await fleet.fleetPort.call({}, 1_000)).toEqual({
    kind: "not_sent",
    message: "the request is of no operation",
  });
});
