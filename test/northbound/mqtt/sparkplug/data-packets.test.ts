import { PassThrough } from "node:stream";
import { generate } from "mqtt-packet";
import { expect, test } from "vitest";
import { noLimits } from "../../../../src/northbound/mqtt/client/broker-limits.ts";
import { encodePayload, type PayloadParts } from "../../../../src/northbound/mqtt/sparkplug/payload.ts";
import { createDataPackets } from "../../../../src/northbound/mqtt/sparkplug/publisher.ts";

const topic = "spBv1.0/plant/DDATA/fleet/r1";

/** A payload with a text of so many characters. */
function payload(length: number): PayloadParts {
  const model = { name: "Text", type: "String" } as const;
  const sample = { model, alias: 7, value: "x".repeat(length), quality: "good", atMs: 1 } as const;
  return { atMs: 1_750_000_000_000, seq: 5, samples: [sample], isBirth: false };
}

test.each([4, 5] as const)(
  "MQTT %s: they leave in one piece, as mqtt-packet writes them",
  (protocolVersion) => {
    const stream = new PassThrough();
    const packets = createDataPackets({ stream, limits: noLimits, options: { protocolVersion } });
    const lengths = [0, 20, 60, 100, 16_300, 16_350, 20_000];
    for (const length of lengths) packets.add(Buffer.from(topic), payload(length));
    expect(stream.readableLength).toBe(0);
    packets.flush();
    packets.flush();
    const expected = lengths.map((length) => {
      const packet = { cmd: "publish", topic, qos: 0, retain: false, dup: false } as const;
      return generate({ ...packet, payload: encodePayload(payload(length)) }, { protocolVersion });
    });
    expect(stream.read()).toEqual(Buffer.concat(expected));
  },
);

test("one that is larger than the broker takes is left out alone", () => {
  const stream = new PassThrough();
  const limits = { ...noLimits, maximumPacketSize: 200 };
  const packets = createDataPackets({ stream, limits, options: {} });
  packets.add(Buffer.from(topic), payload(20));
  const { length } = packets;
  expect(() => packets.add(Buffer.from(topic), payload(200))).toThrow("the 200 bytes that the broker takes");
  expect(packets.length).toBe(length);
});
