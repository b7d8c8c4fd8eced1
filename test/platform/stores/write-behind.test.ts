import { beforeEach, expect, it } from "vitest";
import type { Codec } from "../../../src/platform/stores/table-store.ts";
import type { WriteBehind } from "../../../src/platform/stores/write-behind.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { createMemoryDisk, type MemoryDisk } from "../../support/memory-tables.ts";

const numbers: Codec<number> = {
  encode: (number) => number,
  decode: (json) => (typeof json === "number" ? json : null),
};

let disk: MemoryDisk;
let clock: ReturnType<typeof createManualClock>;
let tables: WriteBehind;
beforeEach(() => {
  disk = createMemoryDisk();
  clock = createManualClock();
  tables = disk.open(clock);
});

const keep = (key: string, value: number) =>
  tables.keep([tables.table("t", numbers, "begin empty").put(key, value)]);

it("changes of one turn, and those during a write, are one write each", async () => {
  keep("a", 1);
  keep("b", 1);
  keep("a", 2);
  expect(await tables.flushed()).toBe(true);
  keep("c", 1);
  await null;
  keep("d", 1);
  keep("e", 1);
  expect(await tables.flushed()).toBe(true);
  expect(disk.writes).toEqual([["t/a", "t/b"], ["t/c"], ["t/d", "t/e"]]);
  expect(disk.records.get("t/a")).toBe(2);
});

it("what a full disk refuses is written when it has room, each record as it is then", async () => {
  disk.isFull = true;
  keep("a", 1);
  keep("b", 1);
  expect(await tables.flushed()).toBe(false);
  keep("a", 2);
  expect(await tables.flushed()).toBe(false);
  disk.isFull = false;
  expect(disk.records.size).toBe(0);
  clock.advance(5_000);
  await new Promise(setImmediate);
  expect([...disk.records]).toEqual([
    ["t/a", 2],
    ["t/b", 1],
  ]);
  expect(await tables.flushed()).toBe(true);
});

it("a disk that does not answer delays a caller by a second", async () => {
  let release = () => {};
  const { write } = disk.store;
  Object.assign(disk.store, {
    async write(...changes: Parameters<typeof write>) {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await write(...changes);
    },
  });
  keep("a", 1);
  const answer = tables.flushed();
  clock.advance(1_000);
  expect(await answer).toBe(false);
  release();
  await new Promise(setImmediate);
  expect(await tables.flushed()).toBe(true);
});
