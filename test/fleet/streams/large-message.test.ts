import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  SubscribeBatteryStatusResponseSchema as Battery,
  SubscribeMissionStatusResponseSchema as Missions,
} from "../../../src/wire/fleet/v1/service_pb.js";
import { startFleetSession } from "../../support/fleet-rig.ts";
import { watchLoop } from "../../support/loop-probe.ts";
import { startScriptedService } from "../../support/scripted-service.ts";

test("a message of a million missions is left out and holds up nothing; its stream goes on", async () => {
  const missions = (count: number) => ({ missions: Array.from({ length: count }, () => ({})) });
  const message = (robotId: string, count: number) =>
    toBinary(Missions, create(Missions, { robotId, missionStates: missions(count) }));
  const huge = message("r1", 1_000_000);
  const service = await startScriptedService({
    streams: {
      SubscribeBatteryStatus: () => [toBinary(Battery, create(Battery, { robotId: "r1", batteryState: {} }))],
      SubscribeMissionStatus: () => [],
    },
  });
  const rig = await startFleetSession(service, { times: { rosterPollMs: null, taskChainPollMs: null } });
  await rig.event("battery");
  await rig.until("the mission stream is open", () => service.open("SubscribeMissionStatus") === 1);
  const probe = watchLoop();
  service.push("SubscribeMissionStatus", huge);
  service.push("SubscribeMissionStatus", message("r1", 100));
  const { queue } = await rig.event("mission");
  probe.stop();
  expect(queue.missions).toHaveLength(100);
  expect(rig.figure("messages_malformed")).toBe(1);
  expect(probe.longestMs()).toBeLessThan(50);
  await rig.stop();
  await service.close();
});
