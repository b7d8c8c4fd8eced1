import { connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { frame } from "../../../src/simulator/grpc/response.ts";
import { FleetService, SubscribeBatteryStatusRequestSchema } from "../../../src/wire/fleet/v1/service_pb.js";
import { startSimulator } from "../../support/simulator.ts";

const { method } = FleetService;

test("a subscriber that does not read is cut off with RESOURCE_EXHAUSTED, and slows nobody", async () => {
  const simulator = await startSimulator({ maxUnreadBytes: 100_000 });
  const [locationId = ""] = simulator.endpoints.locations;
  const selector = { targetId: { case: "locationId" as const, value: locationId } };

  const lazy = connect(`https://${simulator.endpoints.grpc}`, { ca: simulator.ca });
  const stream = lazy.request({
    ":method": "POST",
    ":path": "/fleet.v1.FleetService/SubscribeBatteryStatus",
    "content-type": "application/grpc",
    authorization: `Bearer ${await simulator.token()}`,
  });
  stream.end(
    frame(
      toBinary(
        SubscribeBatteryStatusRequestSchema,
        create(SubscribeBatteryStatusRequestSchema, { selector }),
      ),
    ),
  );
  // No reader is ever attached: HTTP/2 lets 64 KiB through and then nothing.
  await new Promise((resolve) => stream.once("response", resolve));
  const cut = new Promise<number>((resolve) => {
    stream.once("close", () => resolve(stream.rstCode));
    stream.on("error", () => {});
  });

  const client = await simulator.client();
  const eager = client.stream(method.subscribeBatteryStatus, { selector });
  const { robotId } = await eager.next();
  let isLastSeen = false;
  const reading = (async () => {
    while (!isLastSeen) {
      const message = await eager.next();
      isLastSeen = message.robotId === robotId && message.batteryState?.chargePercent === 99;
    }
  })();
  const driven = (async () => {
    for (let n = 0; n < 40_000 && !stream.closed; n += 1) {
      simulator.control.happen({ kind: "battery", robotId, percent: 20 + (n % 50) });
      if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  // NGHTTP2_ENHANCE_YOUR_CALM, which gRPC reads as RESOURCE_EXHAUSTED.
  expect(await cut).toBe(11);
  await driven;
  simulator.control.happen({ kind: "battery", robotId, percent: 99 });
  await reading;
  eager.cancel();
  lazy.destroy();
  await simulator.stop();
});

test("5,000 conveyor streams are open at once, and each hears of its change", async () => {
  // One more: the stream that has found the cart may still be closing.
  const simulator = await startSimulator({ maxConcurrentStreams: 5_001 });
  const client = await simulator.client();
  const [locationId = ""] = simulator.endpoints.locations;
  const cart = await findCart(client, locationId);
  const streams = Array.from({ length: 5_000 }, () =>
    client.stream(method.subscribeConveyorStatus, { robotId: cart }),
  );
  await Promise.all(streams.map((stream) => stream.next()));
  simulator.control.happen({ kind: "conveyor-health", robotId: cart, index: 1, ok: false });
  const states = await Promise.all(streams.map((stream) => stream.next()));
  expect(states.every((message) => message.states.some(({ healthState }) => healthState === 2))).toBe(true);
  for (const stream of streams) stream.cancel();
  await simulator.stop();
}, 60_000);

async function findCart(
  client: Awaited<ReturnType<Awaited<ReturnType<typeof startSimulator>>["client"]>>,
  locationId: string,
): Promise<string> {
  const all = client.stream(method.subscribeBatteryStatus, {
    selector: { targetId: { case: "locationId", value: locationId } },
  });
  for (;;) {
    const { robotId } = await all.next();
    try {
      await client.call(method.getConveyorIndex, { robotId });
      all.cancel();
      return robotId;
    } catch (error) {
      expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
    }
  }
}
