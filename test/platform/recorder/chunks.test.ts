import { expect, it } from "vitest";
import { createChunks } from "../../../src/platform/recorder/chunks.ts";
import { entriesIn } from "../../../src/platform/recorder/recording.ts";

const KILOBYTE = 1024;

it("uses the memory of a chunk again once it is written, and never before", () => {
  const chunks = createChunks({ nowMs: () => 1_000 });
  const write = (text: string) => chunks.write("told", { name: "mqtt", second: Buffer.from(text) });
  const take = () => {
    const chunk = chunks.take();
    if (chunk === null) throw new Error("nothing waits");
    return chunk;
  };
  write("one");
  const first = take();
  write("two");
  const second = take();
  expect(second.memory).not.toBe(first.memory);
  chunks.written(first);
  write("three");
  const third = take();
  expect(third.memory).toBe(first.memory);
  const texts = [second, third].map(({ bytes }) =>
    [...entriesIn(bytes, 0)].map((entry) => `${entry.second}`),
  );
  expect(texts).toEqual([["two"], ["three"]]);
  expect(chunks.figures()).toMatchObject({ entries: 3, bytes: first.bytes.length });
});

it("keeps no memory of large entries, and little of a burst", () => {
  const chunks = createChunks({ nowMs: () => 1_000 });
  chunks.write("read", { name: "GetMap", second: Buffer.alloc(300 * KILOBYTE) });
  const large = chunks.take();
  if (large !== null) chunks.written(large);
  chunks.write("told", { name: "mqtt", second: Buffer.from("small") });
  const small = chunks.take();
  expect(small?.memory.length).toBe(128 * KILOBYTE);
  for (let each = 0; each < 40; each += 1)
    chunks.write("read", { name: "GetMap", second: Buffer.alloc(100 * KILOBYTE) });
  const burst = Array.from({ length: 40 }, () => chunks.take()).filter((chunk) => chunk !== null);
  expect(burst).toHaveLength(40);
  for (const chunk of burst) chunks.written(chunk);
  const again = Array.from({ length: 40 }, () => {
    chunks.write("read", { name: "GetMap", second: Buffer.alloc(100 * KILOBYTE) });
    return chunks.take()?.memory;
  });
  const known = new Set(burst.map(({ memory }) => memory));
  expect(again.filter((memory) => memory !== undefined && known.has(memory))).toHaveLength(16);
});

it("keeps the order of entries that are copied together and of large ones, each with the time it was written at", () => {
  let nowMs = 0;
  const chunks = createChunks({ nowMs: () => ++nowMs });
  for (let each = 1; each <= 100; each += 1)
    chunks.write("read", { name: `${each}`, second: Buffer.alloc(each % 30 === 0 ? 20 * KILOBYTE : 1) });
  const found = entriesIn(chunks.take()?.bytes ?? Buffer.alloc(0), 0);
  const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
  expect([...found].map(({ name, atMs }) => [Number(name), atMs])).toEqual(
    numbers.map((each) => [each, each]),
  );
});

it("copies what is large at once, for the memory in which it came is much larger", () => {
  const chunks = createChunks({ nowMs: () => 1_000 });
  const [small, large] = [Buffer.from("small"), Buffer.alloc(20 * KILOBYTE, "l")];
  chunks.write("read", { name: "a", second: small });
  chunks.write("read", { name: "b", second: large });
  large.fill("x");
  const entries = [...entriesIn(chunks.take()?.bytes ?? Buffer.alloc(0), 0)];
  expect(entries.map(({ second }) => `${second}`.slice(0, 5))).toEqual(["small", "lllll"]);
});

it("makes the texts of many lines when they come, so that none of them waits for many others", () => {
  const chunks = createChunks({ nowMs: () => 1_000 });
  let made = 0;
  const told = (lines: number) => chunks.write("told", { name: "mqtt", lines, text: () => `${++made}` });
  for (let each = 1; each <= 6; each += 1) told(10);
  expect(made).toBe(0);
  told(10);
  expect(made).toBe(7);
  told(200);
  expect(made).toBe(8);
  const found = entriesIn(chunks.take()?.bytes ?? Buffer.alloc(0), 0);
  expect([...found].map(({ second }) => Number(`${second}`))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
