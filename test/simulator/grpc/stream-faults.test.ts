import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import type { FleetClient } from "../../support/fleet-client.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

const { method } = FleetService;
const HOUR_MS = 3_600_000;
let clock: ManualClock;
let simulator: RunningSimulator;
let client: FleetClient;
let robotId: string;

beforeEach(async () => {
  clock = createManualClock(Date.now());
  simulator = await startSimulator({ clock });
  client = await simulator.client();
  const stream = openBattery();
  robotId = (await stream.next()).robotId;
  stream.cancel();
});
afterEach(() => simulator.stop());

function openBattery() {
  const [locationId = ""] = simulator.endpoints.locations;
  return client.stream(method.subscribeBatteryStatus, {
    selector: { targetId: { case: "locationId", value: locationId } },
  });
}

async function openOne() {
  const stream = client.stream(method.subscribeBatteryStatus, {
    selector: { targetId: { case: "robotIds", value: { ids: [robotId] } } },
  });
  await stream.next();
  return stream;
}

const setBattery = (percent: number) => simulator.control.happen({ kind: "battery", robotId, percent });
const percentOf = async (stream: Awaited<ReturnType<typeof openOne>>) =>
  (await stream.next()).batteryState?.chargePercent;

test("a stream ends at its 60 minutes, cleanly, and not before", async () => {
  const stream = await openOne();
  clock.advance(HOUR_MS - 1);
  setBattery(50);
  expect((await stream.next()).robotId).toBe(robotId);
  clock.advance(1);
  expect(await stream.ended).toBe(status.OK);
});

test.each([
  ["limit", status.OK],
  ["unavailable", status.UNAVAILABLE],
  ["unauthenticated", status.UNAUTHENTICATED],
  ["reset", status.INTERNAL],
  ["goaway", status.UNAVAILABLE],
] as const)("end-streams %s ends a stream with code %i, and a new one works", async (how, code) => {
  const stream = await openOne();
  simulator.control.apply({ kind: "end-streams", how });
  expect(await stream.ended).toBe(code);
  const again = await openOne();
  again.cancel();
});

test("a reset is RST_STREAM with code 0, as load balancers do", async () => {
  const stream = await openOne();
  const failure = stream.next();
  simulator.control.apply({ kind: "end-streams", how: "reset" });
  await expect(failure).rejects.toThrow(/RST_STREAM.*code 0/);
});

test("drop loses a message, repeat doubles one, reorder lets the next one overtake", async () => {
  const stream = await openOne();
  simulator.control.apply({ kind: "stream", effect: "drop", count: 1 });
  setBattery(60);
  setBattery(59);
  expect(await percentOf(stream)).toBe(59);
  simulator.control.apply({ kind: "stream", effect: "repeat", count: 1 });
  setBattery(58);
  expect([await percentOf(stream), await percentOf(stream)]).toEqual([58, 58]);
  simulator.control.apply({
    kind: "stream",
    effect: "reorder",
    stream: "SubscribeBatteryStatus",
    robotId,
    count: 1,
  });
  setBattery(57);
  setBattery(56);
  expect([await percentOf(stream), await percentOf(stream)]).toEqual([56, 57]);
  expect(simulator.control.faults()).toEqual([]);
  stream.cancel();
});

test("silence keeps connections open and says nothing, until it has passed", async () => {
  const stream = await openOne();
  simulator.control.apply({ kind: "silence", forMs: 5_000 });
  setBattery(60);
  const call = client.call(method.listWebhooks, {}).then(
    () => "answered",
    () => "failed",
  );
  const first = await Promise.race([
    call,
    stream.ended.then(() => "ended"),
    new Promise((resolve) => setTimeout(() => resolve("silent"), 200)),
  ]);
  expect(first).toBe("silent");
  clock.advance(5_000);
  setBattery(55);
  expect(await percentOf(stream)).toBe(55);
  stream.cancel();
});
