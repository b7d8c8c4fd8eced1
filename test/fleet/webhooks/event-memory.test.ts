import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEventMemory } from "../../../src/fleet/webhooks/event-memory.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { openStore } from "../../../src/platform/store.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-events-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("remembers the last events, no more than its limit, over restarts and other limits", async () => {
  const first = openStore(folder);
  const memory = createEventMemory(first, silentLog, 4);
  for (const id of ["a", "b", "c", "d", "e", "f"]) expect(memory.take(id)).toBe(true);
  expect(memory.take("f")).toBe(false);
  expect([...first.range({ from: "0", to: ":" })].length).toBeLessThanOrEqual(4);
  await first.close();

  const second = openStore(folder);
  const again = createEventMemory(second, silentLog, 4);
  expect(["c", "d", "e", "f"].map(again.take)).toEqual([false, false, false, false]);
  expect(again.take("g")).toBe(true);
  // The oldest made room.
  expect(again.take("c")).toBe(true);
  expect(again.take("f")).toBe(false);
  await second.close();

  const third = openStore(folder);
  const smaller = createEventMemory(third, silentLog, 2);
  expect(smaller.take("new")).toBe(true);
  expect(smaller.take("new")).toBe(false);
  await third.close();
});

test("takes events while the disk fails, and says so once", async () => {
  const store = openStore(folder);
  await store.close();
  const errors: string[] = [];
  const broken = { ...store, range: () => [], write: () => Promise.reject(new Error("disk full")) };
  const memory = createEventMemory(
    broken,
    { ...silentLog, error: (_, message) => void errors.push(message) },
    4,
  );
  expect([memory.take("a"), memory.take("b"), memory.take("a")]).toEqual([true, true, false]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(errors).toHaveLength(1);
});
