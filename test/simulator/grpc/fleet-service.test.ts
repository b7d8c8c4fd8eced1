import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator({ serviceNames: ["fleet.v1.FleetService", "maker.api.Robots"] });
});
afterAll(() => simulator.stop());

const { method } = FleetService;
const everywhere = () => ({
  selector: { targetId: { case: "locationId" as const, value: simulator.endpoints.locations[0] ?? "" } },
});

test("a stream gives the latest state of every robot at once", async () => {
  const client = await simulator.client();
  const stream = client.stream(method.subscribeBatteryStatus, everywhere());
  const robots = new Set<string>();
  for (let n = 0; n < 6; n += 1) robots.add((await stream.next()).robotId);
  expect(robots.size).toBe(6);
  stream.cancel();
});

test("the service answers under each of its names, and under no other", async () => {
  const maker = await simulator.client({ serviceName: "maker.api.Robots" });
  await expect(maker.call(method.skipGoal, { robotId: "" })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
  const unknown = await simulator.client({ serviceName: "nobody.Knows" });
  await expect(unknown.call(method.skipGoal, { robotId: "" })).rejects.toMatchObject({
    code: status.UNIMPLEMENTED,
  });
});

test.each([
  ["no token", undefined],
  ["no JWT", "nonsense"],
  ["a JWT of somebody else", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"],
  ["a JWT without a signature", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4Iiwic2NvcGUiOiJhY21lIn0."],
])("%s is UNAUTHENTICATED, on calls and on streams", async (_, token) => {
  const client = await simulator.client({ token: token ?? "" });
  await expect(client.call(method.skipGoal, { robotId: "" })).rejects.toMatchObject({
    code: status.UNAUTHENTICATED,
  });
  const stream = client.stream(method.subscribeMissionStatus, everywhere());
  await expect(stream.next()).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
});

test.each([
  ["bytes that are no protobuf", Buffer.from([0xff, 0xff, 0xff])],
  ["a string that is no UTF-8", Buffer.from([0x0a, 0x02, 0xc3, 0x28])],
])("%s are INVALID_ARGUMENT", async (_, bytes) => {
  const client = await simulator.client();
  await expect(client.callBytes("/fleet.v1.FleetService/CreateMission", bytes)).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
});

test("a message beyond the bound is RESOURCE_EXHAUSTED, and the connection goes on", async () => {
  const client = await simulator.client();
  const huge = Buffer.alloc(5_000_000);
  await expect(client.callBytes("/fleet.v1.FleetService/CreateMission", huge)).rejects.toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
  });
  await expect(client.call(method.listWebhooks, {})).resolves.toMatchObject({ webhooks: [] });
});

test("bytes that are no TLS, and TLS that is no HTTP/2, leave the service up", async () => {
  const port = Number(simulator.endpoints.grpc.split(":")[1]);
  const plain = connect(port, "127.0.0.1", () => plain.write("GET / HTTP/1.1\r\n\r\n"));
  await new Promise((resolve) => plain.once("close", resolve));
  const tls = connectTls({ port, host: "127.0.0.1", ca: simulator.ca, ALPNProtocols: ["h2"] }, () => {
    tls.write("this is no connection preface of HTTP/2, and never will be");
  });
  tls.on("error", () => tls.destroy());
  tls.resume();
  await new Promise((resolve) => tls.once("close", resolve));
  const client = await simulator.client();
  await expect(client.call(method.listWebhooks, {})).resolves.toMatchObject({ webhooks: [] });
});
