import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MissionState_State } from "../../../src/wire/fleet/v1/mission_pb.js";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator({
    timeFactor: 50,
    serviceNames: ["fleet.v1.FleetService", "maker.api.Robots"],
  });
});
afterAll(() => simulator.stop());

const { method } = FleetService;
const location = () => ({
  selector: { targetId: { case: "locationId" as const, value: simulator.endpoints.locations[0] ?? "" } },
});

test("a mission that is created is seen to run and to succeed on the stream", async () => {
  const client = await simulator.client();
  const stream = client.stream(method.subscribeMissionStatus, location());
  const robotId = (await stream.next()).robotId;
  expect(robotId).not.toBe("");
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
