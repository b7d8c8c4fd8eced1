import fc from "fast-check";
import { generate } from "mqtt-packet";
import { describe, expect, it } from "vitest";
import { statePacket } from "../../../../src/northbound/mqtt/client/limited-client.ts";

/** Payloads at which the packet's length needs one byte more. */
const lengths = [0, 1, 100, 121, 122, 16_377, 16_378, 16_383, 2_097_145, 2_097_146];
const topic = "a/ß";

describe("a message of QoS 0", () => {
  it("is what mqtt-packet makes of it, for both versions", () => {
    const message = fc.tuple(
      fc.string({ unit: "grapheme", minLength: 1 }),
      fc.string({ unit: "grapheme" }),
      fc.nat(2 ** 32 - 1),
    );
    fc.assert(fc.property(message, ([name, payload, expiry]) => expectSame(name, payload, expiry)));
  });

  it.each(lengths)("has the right length with a payload of %i bytes", (bytes) => {
    expectSame(topic, "x".repeat(bytes), 180);
  });
});

function expectSame(name: string, payload: string, expirySeconds: number): void {
  const packet = { cmd: "publish", topic: name, payload, qos: 0, retain: true, dup: false } as const;
  expect(statePacket(name, payload, null).equals(generate(packet, { protocolVersion: 4 }))).toBe(true);
  const properties = { messageExpiryInterval: expirySeconds };
  const withExpiry = generate({ ...packet, properties }, { protocolVersion: 5 });
  expect(statePacket(name, payload, expirySeconds).equals(withExpiry)).toBe(true);
  const bytes = Buffer.from(payload);
  for (const protocolVersion of [4, 5] as const) {
    const data = generate({ ...packet, payload: bytes, retain: false }, { protocolVersion });
    expect(statePacket(name, bytes, null, false, protocolVersion === 5).equals(data)).toBe(true);
  }
}
