import { Duplex } from "node:stream";
import { expect, it } from "vitest";
import { readAllAtOnce } from "../../../../src/northbound/mqtt/broker/client-sockets.ts";

/** A stream on which each read gives one chunk, as on Node 26. */
function oneChunkAtATime(...chunks: readonly string[]): Duplex {
  const waiting = chunks.map((chunk) => Buffer.from(chunk));
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  stream.read = (size?: number) => {
    if (size === 0) return null;
    return (size === undefined ? waiting.shift() : waiting.shift()?.subarray(0, size)) ?? null;
  };
  return stream;
}

it("a read without a size gives all that waits, in order", () => {
  const stream = oneChunkAtATime("one ", "two ", "three");
  readAllAtOnce(stream);
  expect(String(stream.read())).toBe("one two three");
  expect(stream.read()).toBeNull();
});

it("a read with a size gives what the stream gives", () => {
  const stream = oneChunkAtATime("abc", "def");
  readAllAtOnce(stream);
  expect(stream.read(0)).toBeNull();
  expect(String(stream.read(2))).toBe("ab");
  expect(String(stream.read())).toBe("def");
});
