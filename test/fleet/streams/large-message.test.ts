import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { expect, test } from "vitest";
import { SubscribeBatteryStatusResponseSchema as Battery } from "../../../src/wire/fleet/v1/service_pb.js";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { watchLoop } from "../../support/loop-probe.ts";
import { startScriptedService } from "../../support/scripted-service.ts";

const LONGEST_TURN_MS = 50;

test("a message of a million missions is left out and holds up nothing; its stream goes on", async () => {
  // A mission of which nothing is set has two bytes: its tag, and its length.
  const message = (robotId: string, count: number) =>
    new BinaryWriter()
      .tag(2, WireType.LengthDelimited)
      .string(robotId)
      .tag(4, WireType.LengthDelimited)
      .bytes(Buffer.alloc(2 * count, "\n\0"))
      .finish();
  const huge = message("r1", 1_000_000);
  const service = await startScriptedService({
    streams: {
      SubscribeBatteryStatus: () => [toBinary(Battery, create(Battery, { robotId: "r1", batteryState: {} }))],
      // Of a robot that it has not heard of for three seconds the gateway asks again, by another call.
      SubscribeMissionStatus: () => [message("r1", 1)],
    },
  });
  const harness = await startFleetSession(service, { times: { rosterPollMs: null, taskChainPollMs: null } });
  await Promise.all([harness.event("battery"), harness.event("mission")]);
  // As the gateway sees it: a call that it has given up is open at the service for a moment longer.
  await harness.until("the streams are open", () => harness.figure("streams_open") === 2);
  let longestMs = Number.POSITIVE_INFINITY;
  // A collection of memory may fall into one of them.
  for (let tries = 1; tries <= 3 && longestMs >= LONGEST_TURN_MS; tries += 1) {
    const probe = watchLoop();
    const next = harness.next("mission");
    service.push("SubscribeMissionStatus", huge);
    // Within the bytes of a message, and megabytes once published.
    service.push("SubscribeMissionStatus", message("r1", 30_000));
    service.push("SubscribeMissionStatus", message("r1", 100 + tries));
    const { queue } = await next;
    probe.stop();
    longestMs = Math.min(longestMs, probe.longestMs());
    expect(queue.missions).toHaveLength(100 + tries);
    expect(harness.figure("messages_malformed")).toBe(2 * tries);
  }
  expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  await harness.stop();
  await service.close();
});
