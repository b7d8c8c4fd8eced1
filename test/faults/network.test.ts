import { afterEach, expect, test } from "vitest";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import type { FleetRig } from "../support/fleet-rig.ts";
import { type FaultBench, openFaultBench, quick } from "./fault-bench.ts";
import { startHttpProxy } from "./http-proxy.ts";
import { startImpostor } from "./impostor.ts";

let bench: FaultBench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

async function open(overrides: Partial<SimulatorOptions> = {}): Promise<FaultBench> {
  bench = await openFaultBench(overrides);
  return bench;
}

const read = (rig: FleetRig) => rig.port.call("GetConveyorIndex", '{"robotId":"cart-01"}', 2_000);
const well = (rig: FleetRig) => rig.until("all is well", () => rig.health().state === "up");

test("connections that are cut are made again", async () => {
  const { start, settled, wire } = await open();
  const rig = await start();
  const down = rig.next("link", ({ state }) => state === "down");
  wire.cut();
  expect((await down).cause).not.toBe("");
  await rig.next("link", ({ state }) => state === "up");
  await settled(rig);
  await well(rig);
});

test.each([300, 3_000])(
  "a service that was away for %i ms is found within the backoff cap",
  async (awayMs) => {
    const { start, settled, wire, simulator } = await open();
    const rig = await start();
    await wire.unplug();
    await rig.event("link", ({ state, cause }) => state === "down" && cause !== "not connected yet");
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    const tokensBefore = rig.figure("token_requests");
    await wire.plug();
    const pluggedAtMs = Date.now();
    await rig.next("link", ({ state }) => state === "up");
    expect(Date.now() - pluggedAtMs).toBeLessThan((quick.backoffCapMs ?? 0) + 2_000);
    await settled(rig);
    await well(rig);
    expect(rig.figure("token_requests")).toBe(tokensBefore);
    expect(simulator().endpoints.grpc).not.toBe(wire.address);
  },
);

test("while there is no service, one connection at a time is tried", async () => {
  const { start, wire } = await open({ maxConcurrentStreams: 3 });
  const rig = await start();
  await wire.unplug();
  await rig.event("link", ({ state, cause }) => state === "down" && cause !== "not connected yet");
  const failuresBefore = rig.figure("connect_failures");
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const attempts = rig.figure("connect_failures") - failuresBefore;
  // Full jitter below a cap of 200 ms: 20 attempts in 2 s on the average, for nine streams.
  expect(attempts).toBeGreaterThan(3);
  expect(attempts).toBeLessThan(60);
  await wire.plug();
  await well(rig);
});

test("a half-open connection is noticed within the silence that is allowed, and replaced", async () => {
  const { start, settled, wire } = await open();
  const rig = await start();
  const lost = rig.next("stream", ({ state }) => state === "lost");
  wire.stall();
  const stalledAtMs = Date.now();
  await lost;
  const times = { silenceMs: quick.streamSilenceMs ?? 0, lookMs: (quick.streamSilenceMs ?? 0) / 4 };
  expect(Date.now() - stalledAtMs).toBeLessThan(times.silenceMs + times.lookMs + 500);
  wire.cut();
  wire.resume();
  await settled(rig);
  await well(rig);
});

test("a service that hangs behind its balancer, which answers pings, is noticed too", async () => {
  const { start, settled, simulator } = await open();
  const rig = await start();
  const lost = rig.next("stream", ({ state }) => state === "lost");
  simulator().control.apply({ kind: "silence" });
  await lost;
  simulator().control.clearFaults();
  await settled(rig);
  await well(rig);
});

test("a fleet at rest stays proven alive, though nothing is sent", async () => {
  const { start } = await open();
  const rig = await start({ times: { resyncMs: 60_000, streamSilenceMs: 400 } });
  const before = rig.events.length;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const told = rig.events.slice(before);
  expect(told.filter((event) => event.kind === "stream" && event.state === "lost")).toEqual([]);
  for (const stream of ["mission/plant-1", "battery/plant-1", "conveyors/cart-01"]) {
    const live = told.filter((event) => event.kind === "stream" && event.stream === stream);
    expect(live.length).toBeGreaterThan(5);
  }
});

test("a service that starts again begins its numbers again, and is believed", async () => {
  const { start, settled, replaceService } = await open();
  const rig = await start();
  await replaceService({ seed: 7 });
  await settled(rig);
  await well(rig);
});

test("a service replaced by one that answers UNIMPLEMENTED is borne, and its return is noticed", async () => {
  const { start, settled, replaceService } = await open();
  const rig = await start();
  await replaceService({ serviceNames: ["maker.api.Other"] });
  await rig.until("it is said", () => rig.health().detail?.includes("UNIMPLEMENTED") ?? false);
  expect(await read(rig)).toMatchObject({ kind: "refused", code: "UNIMPLEMENTED" });
  await replaceService();
  await settled(rig);
  await well(rig);
});

test("a name that does not resolve is said, and nothing is sent", async () => {
  const { startUnsettled } = await open();
  const rig = await startUnsettled({ grpcAddress: "fleet.invalid:443" });
  await rig.until("it is said", () => /resol|ENOTFOUND|EAI_AGAIN/i.test(rig.health().detail ?? ""));
  expect(await read(rig)).toMatchObject({ kind: "not_sent" });
});

test("a port where nobody listens is said, and nothing is sent", async () => {
  const { startUnsettled, wire } = await open();
  await wire.unplug();
  const rig = await startUnsettled();
  await rig.until("it is said", () => rig.health().detail?.includes("ECONNREFUSED") ?? false);
  expect(await read(rig)).toMatchObject({ kind: "not_sent" });
});

test.each([
  ["expired", /expired/],
  ["of another authority", /self.signed|unable to verify|unable to get/i],
  ["for another name", /altnames|does not match/i],
] as const)("a certificate that is %s is not talked to", async (fault, message) => {
  const { startUnsettled, simulator } = await open();
  const impostor = await startImpostor(fault, simulator().endpoints.ca);
  const rig = await startUnsettled({ grpcAddress: impostor.address, tls: { ca: impostor.ca, client: null } });
  await rig.until("it is said", () => message.test(rig.health().detail ?? ""));
  expect(await read(rig)).toMatchObject({ kind: "not_sent" });
  expect(impostor.requests()).toBe(0);
  await rig.stop();
  await impostor.close();
});

test("everything goes through an HTTP proxy where configuration says so", async () => {
  const { start, simulator } = await open();
  const proxy = await startHttpProxy("plant", "pa:ss");
  const rig = await start({
    grpcAddress: simulator().endpoints.grpc,
    proxyUrl: `http://plant:pa%3Ass@localhost:${proxy.port}`,
  });
  await well(rig);
  expect(await read(rig)).toMatchObject({ kind: "ok" });
  expect(new Set(proxy.tunnels())).toEqual(
    new Set([simulator().endpoints.grpc, new URL(simulator().endpoints.https).host]),
  );
  await rig.stop();
  await proxy.close();
});
