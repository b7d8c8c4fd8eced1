import { once } from "node:events";
import { connect } from "node:http2";
import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { frame } from "../../../src/simulator/grpc/response.ts";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import type { FleetClient } from "../../support/fleet-client.ts";
import { https } from "../../support/https.ts";
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
  // A connection that is told to go is cut when it has not gone in a second.
  clock.advance(1_000);
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
  const connection = connect(`https://${simulator.endpoints.grpc}`, { ca: simulator.ca });
  const authorization = `Bearer ${await simulator.token()}`;
  const told: string[] = [];
  const ask = (name: string) => {
    const call = connection.request({
      ":method": "POST",
      ":path": "/fleet.v1.FleetService/ListWebhooks",
      "content-type": "application/grpc",
      authorization,
    });
    for (const event of ["response", "close"]) call.once(event, () => told.push(`${name}: ${event}`));
    call.end(frame(new Uint8Array()));
    return call;
  };
  simulator.control.apply({ kind: "silence", forMs: 5_000 });
  setBattery(60);
  ask("in the silence");
  // Its answer shows that the service has the call, and that the connection is open.
  await new Promise((resolve) => connection.ping(resolve));
  clock.advance(5_000);
  setBattery(55);
  // What should have come in the silence would have come before.
  expect(await percentOf(stream)).toBe(55);
  await once(ask("after it"), "response");
  expect(told).toEqual(["after it: response"]);
  connection.destroy();
  stream.cancel();
});

test("a cut closes connections and takes no new ones, until it ends", async () => {
  const { grpc } = simulator.endpoints;
  const open = () => connect(`https://${grpc}`, { ca: simulator.ca });
  const before = open();
  await once(before, "connect");
  const lost = once(before, "close");
  simulator.control.apply({ kind: "cut" });
  await lost;
  const during = open();
  const [refused] = await once(during, "error");
  expect(refused).toBeInstanceOf(Error);
  await expect(simulator.rest("GET", "/amr/onlineAmr")).rejects.toThrow("socket hang up");
  // The control endpoint ends the fault, so it answers.
  const url = `${simulator.endpoints.https}/simulator/faults`;
  const faults = await https({ url, ca: simulator.ca });
  expect(faults.json()).toEqual({ faults: [{ kind: "cut" }] });
  simulator.control.endFaults(({ kind }) => kind === "cut");
  const after = open();
  await once(after, "connect");
  expect((await simulator.rest("GET", "/amr/onlineAmr")).status).toBe(200);
  after.destroy();
});
