import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isoTime, jsonFloat, jsonText } from "../../src/models/json-text.ts";

describe("values as text", () => {
  test("any string is what JSON.stringify makes of it", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => jsonText(text) === JSON.stringify(text)));
    for (const text of ["\u007f", "\u2028", "a\0b", "\ud800", "é", "😀"])
      expect(jsonText(text)).toBe(JSON.stringify(text));
  });

  test("a time is what Date makes of it, whatever was asked before", () => {
    const times = fc.array(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }));
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 40_000 }), (list, near) => {
        for (const time of [...list, near, near + 16_000, near])
          expect(isoTime(time)).toBe(new Date(time).toISOString());
      }),
    );
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300, -1e300])("the clock may say %s", (time) => {
    expect(isoTime(time)).toBeNull();
  });

  test("floats are the shortest decimal; what JSON has no number for is text", () => {
    expect(jsonFloat(Math.fround(1.2))).toBe("1.2");
    expect(jsonFloat(-0)).toBe("0");
    expect(jsonFloat(Number.NaN)).toBe('"NaN"');
    expect(jsonFloat(Number.NEGATIVE_INFINITY)).toBe('"-Infinity"');
  });
});
