import fc from "fast-check";
import { expect, test } from "vitest";
import { createFrameLimit } from "../../../../src/northbound/mqtt/broker/client-limits.ts";

const LIMIT = 1_000;

function packet(bodyBytes: number): Buffer {
  const header = [0x30];
  let left = bodyBytes;
  do {
    header.push((left & 0x7f) | (left > 127 ? 0x80 : 0));
    left >>= 7;
  } while (left > 0);
  return Buffer.concat([Buffer.from(header), Buffer.alloc(bodyBytes, 0xff)]);
}

/** Cuts bytes at the given places, as a network might. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

const cuts = fc.array(fc.nat(10_000), { maxLength: 20 });

test("packets within the limit pass, however they are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(LIMIT), { maxLength: 10 }), cuts, (sizes, places) => {
      const fits = createFrameLimit(LIMIT);
      return cut(Buffer.concat(sizes.map(packet)), places).every(fits);
    }),
  );
});

test("a larger one is caught by its header, wherever it stands", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(LIMIT), { maxLength: 5 }),
      fc.integer({ min: LIMIT + 1, max: 5_000 }),
      cuts,
      (sizes, large, places) => {
        const fits = createFrameLimit(LIMIT);
        const bytes = Buffer.concat([...sizes.map(packet), packet(large).subarray(0, 3)]);
        return !cut(bytes, places).every(fits);
      },
    ),
  );
});

test("a length of more than four bytes is no MQTT", () => {
  expect(createFrameLimit(LIMIT)(Uint8Array.of(0x30, 0x80, 0x80, 0x80, 0x80))).toBe(false);
});
