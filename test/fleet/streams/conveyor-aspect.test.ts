import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { conveyorStream, createConveyorAspect } from "../../../src/fleet/streams/conveyor-aspect.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { SubscribeConveyorStatusResponseSchema } from "../../../src/wire/fleet/v1/service_pb.js";
import { createManualClock } from "../../support/manual-clock.ts";

const stream = conveyorStream("cart-01");
const bytes = Buffer.from(
  toBinary(
    SubscribeConveyorStatusResponseSchema,
    create(SubscribeConveyorStatusResponseSchema, { states: [{ index: 1 }] }),
  ),
);

function openAspect() {
  const identifiers = { number: () => true, refuse() {} };
  return createConveyorAspect({
    clock: createManualClock(),
    log: silentLog,
    sink() {},
    identifiers,
  } as unknown as Parameters<typeof createConveyorAspect>[0]);
}

test("a robot that a stream has sent is missed when the next call does not bring it", () => {
  const aspect = openAspect();
  expect(aspect.missing(stream, 1)).toBe(0);
  aspect.receive(bytes, stream, 1);
  expect(aspect.missing(stream, 1)).toBe(0);
  expect(aspect.missing(stream, 2)).toBe(1);
  aspect.receive(bytes, stream, 2);
  // The old call ends after the new one has begun.
  aspect.receive(bytes, stream, 1);
  expect(aspect.missing(stream, 2)).toBe(0);
});

test("a robot that several calls did not bring is no longer expected, until it comes again", () => {
  const aspect = openAspect();
  aspect.receive(bytes, stream, 1);
  aspect.releaseMissing(stream, 2);
  expect(aspect.missing(stream, 3)).toBe(0);
  aspect.receive(bytes, stream, 3);
  expect(aspect.missing(stream, 4)).toBe(1);
});

test("a robot that is released is not missed", () => {
  const aspect = openAspect();
  aspect.receive(bytes, stream, 1);
  aspect.release("cart-01");
  expect(aspect.missing(stream, 2)).toBe(0);
});
