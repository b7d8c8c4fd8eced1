import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { TextReader } from "../../src/fleet/decoder.ts";

const bytesOf = (text: string) => new BinaryWriter().string(text).finish();
const read = (text: string) => new TextReader(bytesOf(text)).string(true);

describe("a reader of texts", () => {
  it.each([
    ["an empty text", ""],
    ["a name", "robot-1"],
    ["a long text", "x".repeat(300)],
    ["a text that is not ASCII", "Küche 🚚"],
  ])("reads %s each time", (_, text) => {
    expect([read(text), read(text), read(text)]).toEqual([text, text, text]);
  });

  it("tells texts apart whose bytes have the same hash", () => {
    expect(["Aa", "BB", "Aa", "AaBB", "BBAa"].map(read)).toEqual(["Aa", "BB", "Aa", "AaBB", "BBAa"]);
  });

  it("goes on behind a text that it knew", () => {
    const bytes = new BinaryWriter().string("robot-2").string("robot-2").string("r3").finish();
    const reader = new TextReader(bytes);
    expect([reader.string(), reader.string(), reader.string(), reader.pos]).toEqual([
      "robot-2",
      "robot-2",
      "r3",
      bytes.length,
    ]);
  });

  it("throws for a text that is cut off, and for bytes that are no text", () => {
    expect(() => new TextReader(bytesOf("robot-1").subarray(0, 4)).string()).toThrow(RangeError);
    expect(() => new TextReader(Uint8Array.of(2, 0xc3, 0x28)).string(true)).toThrow(TypeError);
  });
});
