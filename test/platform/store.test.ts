import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { openStore, StoreFailed, type StoreParts, systemParts } from "../../src/platform/store.ts";
import { RecordDamaged } from "../../src/platform/stores/record-seal.ts";
import { flipBehind } from "../support/flip-bytes.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { countByTurn, slowJson } from "../support/turn-counts.ts";

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

let directory: string;
let nowMs: number;
let free: number | null;
let isReadOnly: boolean;
const parts: StoreParts = {
  clock: { monotonicMs: () => nowMs, after: systemClock.after },
  freeBytes: () => free,
  isReadOnly: () => isReadOnly,
};
beforeEach(() => {
  nowMs = 0;
  free = null;
  isReadOnly = false;
  directory = mkdtempSync(join(tmpdir(), "store-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe("files that are removed while the store is open", () => {
  it.each([
    ["the folder", (path: string) => rmSync(path, { recursive: true })],
    ["the records", (path: string) => rmSync(join(path, "data.mdb"))],
  ])("%s: all records are written to new files with the next commit", async (_what, remove) => {
    const path = join(directory, "outbox");
    let gone = 0;
    const onGone = () => {
      gone += 1;
    };
    const store = openStore(path, { ...parts, onGone });
    await store.write([{ key: "a", value: 1 }]);
    remove(path);
    expect(store.get("a")).toBe(1);
    await store.write([{ key: "b", value: 2 }]);
    await store.write([{ key: "c", value: 3 }]);
    expect(gone).toBe(1);
    await store.close();
    const again = openStore(path, parts);
    expect([..."abc"].map((key) => again.get(key))).toEqual([1, 2, 3]);
    await again.close();
  });

  it("on a full disk writes are refused, and succeed when there is room", async () => {
    const path = join(directory, "outbox");
    const store = openStore(path, { ...parts, onGone() {} });
    await store.write([{ key: "a", value: 1 }]);
    rmSync(path, { recursive: true });
    free = 1_000_000;
    await expect(store.write([{ key: "b", value: 2 }])).rejects.toThrow(StoreFailed);
    free = null;
    nowMs += 10_000;
    await store.write([{ key: "c", value: 3 }]);
    expect([..."abc"].map((key) => store.get(key))).toEqual([1, undefined, 3]);
    await store.close();
  });
});

describe("store", () => {
  it("keeps what was written, across a close", async () => {
    const path = join(directory, "deep/er");
    const store = openStore(path);
    await store.write([
      { key: "a", value: { n: 1 } },
      { key: "b", value: "two" },
    ]);
    expect(store.get("a")).toEqual({ n: 1 });
    await store.write([{ key: "a", value: undefined }]);
    await store.close();
    const again = openStore(path);
    expect(again.get("a")).toBeUndefined();
    expect(again.get("b")).toBe("two");
    await again.close();
  });

  it("reads a range in the order of the keys", async () => {
    const store = openStore(directory);
    await store.write(["t/3", "t/1", "u/1", "t/2", "s/9"].map((key) => ({ key, value: key })));
    const keys = (limit?: number) =>
      Array.from(
        store.range(limit === undefined ? { from: "t/", to: "t0" } : { from: "t/", to: "t0", limit }),
        ({ key }) => key,
      );
    expect(keys()).toEqual(["t/1", "t/2", "t/3"]);
    expect(keys(2)).toEqual(["t/1", "t/2"]);
    await store.close();
  });

  it.each([
    ["its value", '"digest":"', 0],
    ["its key", "c/", 0],
    ["its checksum", '{"digest"', -'{"digest"'.length - 1],
  ])("never gives a record that a disk has changed: %s", async (_, text, offset) => {
    const first = openStore(directory);
    await first.write([
      { key: "c/1", value: { digest: "abc" } },
      { key: "d/1", value: 1 },
    ]);
    await first.close();
    flipBehind(join(directory, "data.mdb"), text, offset);
    const store = openStore(directory);
    expect(() => [...store.range({ from: "c/", to: "c0" })]).toThrow(RecordDamaged);
    if (text === "c/") expect(() => store.get("c/0")).toThrow(RecordDamaged);
    else expect(() => store.get("c/1")).toThrow(RecordDamaged);
    expect(store.get("d/1")).toBe(1);
    await store.close();
  });

  it("commits in groups: writes that come together or during a sync share one", async () => {
    const store = openStore(directory);
    const writes = Array.from({ length: 500 }, (_, n) => store.write([{ key: `k${n}`, value: n }]));
    await Promise.all(writes);
    expect(store.figures()).toMatchObject({ records: 500, failures: 0 });
    expect(store.figures().syncs).toBeLessThanOrEqual(2);
    await store.close();
  });

  it("seals the records of a large group in several turns, and commits them as one", async () => {
    using turns = countByTurn();
    const store = openStore(directory);
    const changes = Array.from({ length: 30 }, (_, n) => ({ key: `k${n}`, value: slowJson(turns) }));
    await store.write(changes);
    expect(turns.counts.length).toBeGreaterThan(1);
    expect(turns.counts.reduce((sum, count) => sum + count, 0)).toBe(30);
    expect(store.figures()).toMatchObject({ records: 30, syncs: 1 });
    expect([...store.range({ from: "k", to: "l" })]).toHaveLength(30);
    await store.close();
  });

  it("refuses a key that lmdb cannot hold, and any write after close", async () => {
    const store = openStore(directory);
    await expect(store.write([{ key: "k".repeat(2_000), value: 1 }])).rejects.toThrow("a key is too long");
    await store.close();
    await expect(store.write([{ key: "k", value: 1 }])).rejects.toThrow(StoreFailed);
  });

  it("says which directory cannot be used", () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    expect(() => openStore(join(file, "below"))).toThrow(`cannot open the store ${file}`);
  });

  it("refuses before lmdb meets a full disk, says how much is missing, and goes on when there is room", async () => {
    const store = openStore(directory, parts);
    await store.write([{ key: "before", value: 1 }]);
    free = 7_900_000;
    const failure = await store.write([{ key: "in", value: 1 }]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreFailed);
    expect((failure as StoreFailed).cause).toMatchObject({
      message: "the disk is full: 7.9 MB free, at least 8.0 are needed",
    });
    expect(store.get("in")).toBeUndefined();
    expect(store.get("before")).toBe(1);
    // What is to be written counts too.
    free = 9_000_000;
    await expect(store.write([{ key: "long", value: "x".repeat(1_000_000) }])).rejects.toThrow(StoreFailed);
    await store.write([{ key: "after", value: 2 }]);
    expect(store.get("after")).toBe(2);
    await store.close();
  });

  it("does not let lmdb meet a disk that takes no writes, and writes again when it does", async () => {
    const store = openStore(directory, parts);
    await store.write([{ key: "before", value: 1 }]);
    isReadOnly = true;
    const failure = await store.write([{ key: "in", value: 1 }]).catch((error: unknown) => error);
    expect((failure as StoreFailed).cause).toMatchObject({
      message: "the disk is read-only; dmesg may say why",
    });
    isReadOnly = false;
    await store.write([{ key: "after", value: 2 }]);
    expect(["before", "in", "after"].map((key) => store.get(key))).toEqual([1, undefined, 2]);
    await store.close();
  });

  it("says how long its slowest write took, or takes", async () => {
    const clock = createManualClock();
    const store = openStore(directory, { ...parts, clock });
    const writing = store.write([{ key: "a", value: 1 }]);
    await null;
    clock.advance(1_500);
    expect(store.figures().slowestMs).toBe(1_500);
    await writing;
    expect(store.figures().slowestMs).toBe(1_500);
    clock.advance(70_000);
    expect(store.figures().slowestMs).toBe(0);
    await store.close();
  });

  it("does not count the time in which the event loop stood still", async () => {
    const store = openStore(directory, systemParts);
    const writing = store.write([{ key: "a", value: 1 }]);
    await null;
    const untilMs = performance.now() + 1_200;
    while (performance.now() < untilMs);
    expect(store.figures().slowestMs).toBeLessThan(1_000);
    await writing;
    expect(store.figures().slowestMs).toBeLessThan(1_000);
    await store.close();
  });

  it.skipIf(!hasPrlimit)("leaves lmdb alone for a second after a commit that failed", async () => {
    const store = openStore(directory, parts);
    await store.write([{ key: "before", value: 1 }]);
    limitFileSize("4096");
    try {
      await expect(store.write([{ key: "a", value: 1 }])).rejects.toThrow(StoreFailed);
    } finally {
      limitFileSize("unlimited");
    }
    nowMs = 999;
    await expect(store.write([{ key: "a", value: 1 }])).rejects.toThrow(StoreFailed);
    nowMs = 1_000;
    await store.write([{ key: "a", value: 1 }]);
    expect(store.get("a")).toBe(1);
    await store.close();
  });

  it.skipIf(!hasPrlimit)("rejects with the disk's own error when it is full, and goes on after", async () => {
    const store = openStore(directory, parts);
    await store.write([{ key: "before", value: 1 }]);
    limitFileSize("1000000");
    try {
      const flood = () =>
        store.write(Array.from({ length: 50 }, (_, n) => ({ key: `f${n}`, value: "x".repeat(100_000) })));
      const failure = await flood().then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(StoreFailed);
      expect((failure as StoreFailed).cause).toMatchObject({ message: "Input/output error" });
      expect(store.get("f0")).toBeUndefined();
      expect(store.get("before")).toBe(1);
    } finally {
      limitFileSize("unlimited");
    }
    nowMs += 1_000;
    await store.write([{ key: "after", value: 2 }]);
    expect(store.get("after")).toBe(2);
    expect(store.figures()).toMatchObject({ failures: 1, records: 2, syncs: 2 });
    await store.close();
  });

  it.skipIf(!hasPrlimit)("rejects as long as the disk is full, and leaves no failure unheard", async () => {
    const missing: unknown[] = [];
    const receive = (reason: unknown) => void missing.push(reason);
    const store = openStore(directory, parts);
    await store.write([{ key: "before", value: 1 }]);
    process.on("unhandledRejection", receive);
    limitFileSize("4096");
    try {
      for (let round = 0; round < 5; round += 1) {
        const changes = [
          { key: `c/${round}`, value: round },
          { key: `o/${round}`, value: round },
        ];
        await expect(store.write(changes)).rejects.toThrow(StoreFailed);
        expect(store.get(`c/${round}`)).toBeUndefined();
        nowMs += 1_000;
      }
      limitFileSize("unlimited");
      nowMs += 1_000;
      await store.write([{ key: "after", value: 2 }]);
      expect(store.get("after")).toBe(2);
      await store.close();
      // A promise that nobody holds would end the process. What the failures left came before what was
      // written after them.
      await new Promise((resolve) => setImmediate(resolve));
      expect(missing).toEqual([]);
    } finally {
      limitFileSize("unlimited");
      process.off("unhandledRejection", receive);
    }
  });
});

/** A limit on the size of this process's files is a full disk that needs no disk. */
function limitFileSize(bytes: string): void {
  const done = spawnSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`]);
  if (done.status !== 0) throw new Error(`prlimit: ${done.stderr}`);
}
