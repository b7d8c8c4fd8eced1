import fc from "fast-check";
import { expect, test } from "vitest";
import { createFrameCheck } from "../../../src/northbound/opcua/node-opcua/frame-check.ts";
import { frame, hello } from "./raw-client.ts";

const open = frame("OPNF", Buffer.alloc(40, 1));

/** Feeds the pieces until one is wrong; what passed by then, and why no more did. */
function feed(pieces: readonly Buffer[]) {
  const passed: Buffer[] = [];
  const held: number[] = [];
  const check = createFrameCheck(
    (bytes) => passed.push(bytes),
    (bytes) => held.push(bytes),
  );
  for (const piece of pieces) {
    const problem = check(piece);
    if (problem !== null) return { passed, held, problem };
  }
  return { passed, held, problem: null };
}

/** Cuts bytes at the given places, as a network might. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

/** Where each piece ends in all of them together. */
function endsOf(pieces: readonly Buffer[]): number[] {
  let at = 0;
  return pieces.map((piece) => {
    at += piece.length;
    return at;
  });
}

const cuts = fc.array(fc.nat(10_000), { maxLength: 20 });
const bodies = fc.array(fc.integer({ min: 16, max: 3_000 }), { maxLength: 5 });

test("a client's frames pass unchanged, however they are cut, and never two of them together", () => {
  fc.assert(
    fc.property(bodies, cuts, (sizes, places) => {
      const frames = [hello(), open, ...sizes.map((size) => frame("MSGF", Buffer.alloc(size, size)))];
      const whole = Buffer.concat(frames);
      const { passed, problem } = feed(cut(whole, places));
      expect(problem).toBeNull();
      expect(Buffer.concat(passed)).toEqual(whole);
      const ends = new Set(endsOf(passed));
      for (const end of endsOf(frames)) expect(ends.has(end)).toBe(true);
    }),
  );
});

test("nothing of a wrong frame passes, wherever it stands", () => {
  fc.assert(
    fc.property(bodies, cuts, (sizes, places) => {
      const good = Buffer.concat([
        hello(),
        open,
        ...sizes.map((size) => frame("MSGF", Buffer.alloc(size, size))),
      ]);
      const { passed, problem } = feed(cut(Buffer.concat([good, frame("ERRF", Buffer.alloc(20))]), places));
      expect(problem?.status).toBe("BadTcpMessageTypeInvalid");
      expect(Buffer.concat(passed)).toEqual(good);
    }),
  );
});

test.each([
  ["OPN before HEL", [open], "BadTcpMessageTypeInvalid"],
  ["MSG before OPN", [hello(), frame("MSGF", Buffer.alloc(40))], "BadTcpMessageTypeInvalid"],
  ["HEL again", [hello(), open, hello()], "BadTcpMessageTypeInvalid"],
  ["HEL of more than 4096 bytes", [frame("HELF", Buffer.alloc(4_089))], "BadTcpMessageTooLarge"],
  ["HEL of too few", [frame("HELF", Buffer.alloc(23))], "BadDecodingError"],
  ["OPN in chunks", [hello(), frame("OPNC", Buffer.alloc(40))], "BadTcpMessageTypeInvalid"],
  ["OPN without its headers", [hello(), frame("OPNF", Buffer.alloc(4))], "BadDecodingError"],
  ["a flag that is none", [hello(), open, frame("MSGX", Buffer.alloc(40))], "BadTcpMessageTypeInvalid"],
  ["a size of nothing", [hello(), open, Buffer.from("MSGF\0\0\0\0", "latin1")], "BadDecodingError"],
  [
    "the largest size",
    [hello(), open, Buffer.from("MSGF\xff\xff\xff\xff", "latin1")],
    "BadTcpMessageTooLarge",
  ],
  [
    "chunks without an end",
    [hello(), open, ...new Array(17).fill(frame("MSGC", Buffer.alloc(524_280)))],
    "BadTcpMessageTooLarge",
  ],
  ["text of another protocol", [Buffer.from("GET / HTTP/1.1\r\n\r\n")], "BadTcpMessageTypeInvalid"],
])("refused: %s", (_what, pieces, status) => {
  expect(feed(pieces).problem?.status).toBe(status);
});

test("a long request is within the limit again when the one before has ended", () => {
  const chunk = frame("MSGC", Buffer.alloc(524_280));
  const request = [...new Array(15).fill(chunk), frame("MSGF", Buffer.alloc(40))];
  expect(feed([hello(), open, ...request, ...request]).problem).toBeNull();
});

test("what an unfinished request costs is told until it ends, and whole frames cost nothing", () => {
  const chunk = frame("MSGC", Buffer.alloc(10_000));
  const last = frame("MSGF", Buffer.alloc(40));
  expect(feed([hello(), open, last]).held).toEqual([]);
  const { held } = feed([hello(), open, chunk, chunk.subarray(0, 5_000), chunk.subarray(5_000), last, last]);
  expect(held).toHaveLength(4);
  expect(held[0]).toBeGreaterThanOrEqual(10_000);
  expect(held[2]).toBeGreaterThanOrEqual(20_000);
  expect(held[3]).toBe(0);
  // The smallest chunks are not for nothing.
  const small = frame("MSGC", Buffer.alloc(16));
  expect(feed([hello(), open, small, small, small]).held.at(-1)).toBeGreaterThan(3_000);
});
