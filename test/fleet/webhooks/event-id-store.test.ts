import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEventIdStore } from "../../../src/fleet/webhooks/event-id-store.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { openStore } from "../../../src/platform/store.ts";
import { createManualClock } from "../../support/manual-clock.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-events-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("remembers the last events, no more than its limit, over restarts and other limits", async () => {
  const clock = createManualClock();
  const first = openStore(folder);
  const memory = createEventIdStore(first, { clock, log: silentLog, limit: 4 });
  for (const id of ["a", "b", "c", "d", "e", "f"]) expect(memory.take(id)).toBe(true);
  expect(memory.take("f")).toBe(false);
  expect([...first.range({ from: "0", to: ":" })].length).toBeLessThanOrEqual(4);
  await memory.close();

  const second = openStore(folder);
  const again = createEventIdStore(second, { clock, log: silentLog, limit: 4 });
  expect(["c", "d", "e", "f"].map(again.take)).toEqual([false, false, false, false]);
  expect(again.take("g")).toBe(true);
  // The oldest made room.
  expect(again.take("c")).toBe(true);
  expect(again.take("f")).toBe(false);
  await again.close();

  const third = openStore(folder);
  const smaller = createEventIdStore(third, { clock, log: silentLog, limit: 2 });
  expect(smaller.take("new")).toBe(true);
  expect(smaller.take("new")).toBe(false);
  await smaller.close();
});

test("writes once in ten seconds, however many events come", async () => {
  const clock = createManualClock();
  const store = openStore(folder);
  const memory = createEventIdStore(store, { clock, log: silentLog });
  for (let number = 0; number < 100; number += 1) {
    memory.take(`e${number}`);
    await clock.settle(100);
  }
  await memory.close();
  expect(store.figures().syncs).toBeLessThanOrEqual(2);
  const again = openStore(folder);
  const known = createEventIdStore(again, { clock, log: silentLog });
  expect(known.take("e0")).toBe(false);
  expect(known.take("e99")).toBe(false);
  await known.close();
});

test("takes events while the disk fails, and says so once", async () => {
  const clock = createManualClock();
  const store = openStore(folder);
  await store.close();
  const errors: string[] = [];
  const broken = { ...store, range: () => [], write: () => Promise.reject(new Error("disk full")) };
  const log = { ...silentLog, error: (_: unknown, message: string) => void errors.push(message) };
  const memory = createEventIdStore(broken, { clock, log, limit: 4 });
  expect([memory.take("a"), memory.take("b"), memory.take("a")]).toEqual([true, true, false]);
  await clock.settle(10_000);
  expect(memory.take("c")).toBe(true);
  await clock.settle(10_000);
  expect(errors).toHaveLength(1);
});
