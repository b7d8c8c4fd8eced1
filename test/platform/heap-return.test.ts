import { spawnSync } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { processHeap, returnHeap } from "../../src/platform/heap-return.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { nodeOptions } from "../support/node-options.ts";

const MB = 1024 * 1024;
let clock: ManualClock;
let stop: AbortController;
let heapBytes: number;
let busy: number;
/** What each collection leaves, in order. */
let leaves: number[];
let collections: number;

beforeEach(() => {
  clock = createManualClock();
  stop = new AbortController();
  heapBytes = 200 * MB;
  busy = 0;
  leaves = [];
  collections = 0;
  const collect = () => {
    collections += 1;
    heapBytes = leaves.shift() ?? heapBytes;
  };
  returnHeap({ clock, log: silentLog, look: () => ({ heapBytes, busy }), collect }, stop.signal);
  clock.advance(20_000);
});

afterEach(() => stop.abort());

test("a heap that a flood has made grow is collected when the process is at rest, and not before", () => {
  heapBytes = 900 * MB;
  busy = 0.9;
  clock.advance(60_000);
  expect(collections).toBe(0);
  busy = 0.05;
  leaves = [400 * MB, 210 * MB];
  clock.advance(60_000);
  expect([collections, heapBytes]).toEqual([2, 210 * MB]);
});

test("a heap is collected after ten seconds at rest: what was busy until now has left its young objects", () => {
  heapBytes = 900 * MB;
  busy = 0.9;
  clock.advance(10_000);
  busy = 0.05;
  clock.advance(9_000);
  expect(collections).toBe(0);
  clock.advance(1_000);
  expect(collections).toBe(1);
});

test("a process with a few messages each second is not at rest: they would wait for the collection", () => {
  heapBytes = 900 * MB;
  for (let second = 0; second < 60; second += 1) {
    busy = second % 5 === 0 ? 0.2 : 0.05;
    clock.advance(1_000);
  }
  expect(collections).toBe(0);
});

test("a heap that is in use is collected once", () => {
  heapBytes = 900 * MB;
  leaves = [895 * MB];
  clock.advance(600_000);
  expect(collections).toBe(1);
  heapBytes = 960 * MB;
  clock.advance(10_000);
  expect(collections).toBe(2);
});

test("small changes cost nothing", () => {
  for (const size of [210, 190, 220, 230]) {
    heapBytes = size * MB;
    clock.advance(10_000);
  }
  expect(collections).toBe(0);
});

test("of this process: what nothing refers to is collected at once", async () => {
  const { look, collect } = processHeap();
  const left = new WeakRef({ text: "a command" });
  // A reference that was looked at counts until the end of the turn.
  await setImmediate();
  collect();
  expect(left.deref()).toBeUndefined();
  expect(look().heapBytes).toBeGreaterThan(MB);
});

/** Fills a heap of over 100 MB, frees it, and prints before and after how much memory the process has. */
const flood = `
  import { readFileSync } from "node:fs";
  import { processHeap } from ${JSON.stringify(pathToFileURL(".build/platform/heap-return.js").href)};
  const megabytes = () => Number(/RssAnon:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
  const heap = processHeap();
  let kept = [];
  for (let n = 0; n < 600_000; n += 1) kept.push({ n, list: [n, n + 1], text: "x" + n, inner: { n } });
  const full = megabytes();
  kept = [];
  for (let times = 0; times < 4; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    heap.collect();
  }
  console.log(JSON.stringify({ full, after: megabytes() }));
`;

test.skipIf(process.platform !== "linux")(
  "what is collected goes back to the machine, with our options",
  () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [...nodeOptions, "--input-type=module", "--eval", flood],
      { encoding: "utf8" },
    );
    expect(stderr).toBe("");
    const { full, after } = JSON.parse(stdout) as { full: number; after: number };
    expect(full).toBeGreaterThan(120);
    expect(after).toBeLessThan(80);
  },
);
