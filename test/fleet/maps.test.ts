import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import type { FleetMap } from "../../src/domain/update.ts";
import { createMapCache, createMapsOnce, type MapCache } from "../../src/fleet/maps.ts";
import { silentLog } from "../../src/platform/log.ts";
import { startFleetSession } from "../support/fleet-harness.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { startSimulator } from "../support/simulator.ts";

const NOW_MS = Date.UTC(2026, 0, 2);
let directory = "";
let cache: MapCache;
let told: Array<readonly [mapId: number, map: FleetMap | null]> = [];
const onMap = (mapId: number, map: FleetMap | null) => void told.push([mapId, map]);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "fleetgate-maps-"));
  told = [];
  cache = createMapCache({ directory, clock: createManualClock(NOW_MS), log: silentLog, onMap });
});
afterEach(() => rm(directory, { recursive: true }));

test("each map that is answered, or found on disk, is told, and one that is gone", async () => {
  await cache.settle(3, answer);
  await cache.settle(3, away);
  expect(told).toEqual([[3, { readAtMs: NOW_MS, json: '{"vertices":[]}', bytes: 15 }]]);
  const later = createMapCache({ directory, clock: createManualClock(), log: silentLog, onMap });
  expect([await later.isKept(3), await later.isKept(4)]).toEqual([true, false]);
  expect(told[1]).toEqual(told[0]);
  await cache.settle(3, gone);
  expect(told[2]).toEqual([3, null]);
});

test("of a map that is too large to be shown, its size is told", async () => {
  const responseJson = `{"vertices":["${"x".repeat(300_000)}"]}`;
  await cache.settle(3, { kind: "ok", responseJson, missionId: null });
  expect(told).toEqual([[3, { readAtMs: NOW_MS, json: null, bytes: 300_017 }]]);
});

const answer: CallEnding = { kind: "ok", responseJson: '{"vertices":[]}', missionId: null };
const away: CallEnding = { kind: "unknown", code: "UNAVAILABLE", message: "connect ECONNREFUSED" };
const gone: CallEnding = { kind: "refused", code: "NOT_FOUND", message: "no such map" };

test("a map is kept, and given when the service is away, said to be old", async () => {
  expect(await cache.settle(3, answer)).toEqual(answer);
  expect(await cache.settle(3, away)).toEqual({
    ...answer,
    note: "the map as it was at 2026-01-02T00:00:00.000Z; the service could not be asked now: connect ECONNREFUSED",
  });
  expect(await cache.settle(4, away)).toEqual(away);
  expect(await readdir(directory)).toEqual(["3.json"]);
});

test("a map that the service no longer has is removed", async () => {
  await cache.settle(3, answer);
  expect(await cache.settle(3, gone)).toEqual(gone);
  expect(await cache.settle(3, away)).toEqual(away);
});

test("a disk that fails, or a file that is damaged, leaves the service's word as it was", async () => {
  await writeFile(join(directory, "3.json"), "{");
  expect(await cache.settle(3, away)).toEqual(away);
  const blocked = createMapCache({
    directory: join(directory, "3.json"),
    clock: createManualClock(),
    log: silentLog,
    onMap,
  });
  expect(await blocked.settle(3, answer)).toEqual(answer);
});

test("a session reads maps from the service, and from the disk while it is away", async () => {
  const simulator = await startSimulator();
  const harness = await startFleetSession(simulator.endpoints, {
    cacheDirectory: directory,
    times: { backoffCapMs: 100 },
  });
  const read = (deadlineMs: number) => harness.port.call("GetMap", '{"mapId":1}', deadlineMs);
  await harness.event("mission");
  const fresh = await read(10_000);
  expect(fresh).toMatchObject({ kind: "ok" });
  expect(fresh).not.toHaveProperty("note");
  await simulator.stop();
  expect(await read(2_000)).toMatchObject({
    kind: "ok",
    responseJson: "responseJson" in fresh ? fresh.responseJson : "",
    note: expect.stringContaining("could not be asked now"),
  });
  await harness.stop();
});

test("the maps that robots are on are asked for once, and are there when the service is away", async () => {
  const simulator = await startSimulator();
  const overrides = {
    cacheDirectory: directory,
    times: { rosterPollMs: 200, backoffCapMs: 100 },
  };
  const harness = await startFleetSession(simulator.endpoints, overrides);
  await harness.until("the map is kept", () => existsSync(join(directory, "maps", "1.json")));
  const { mtimeMs } = await stat(join(directory, "maps", "1.json"));
  const polls = harness.figure("polls");
  await harness.until("more lists came", () => harness.figure("polls") > polls + 4);
  expect((await stat(join(directory, "maps", "1.json"))).mtimeMs).toBe(mtimeMs);
  await simulator.stop();
  expect(await harness.port.call("GetMap", '{"mapId":1}', 2_000)).toMatchObject({
    kind: "ok",
    note: expect.stringContaining("could not be asked now"),
  });
  await harness.stop();
});

test("a map that cannot be had is asked for again later, one that is kept never", async () => {
  const clock = createManualClock();
  const stopping = new AbortController();
  const asked: number[] = [];
  const maps = createMapsOnce({
    isKept: async (mapId) => mapId === 7,
    async ask(mapId) {
      asked.push(mapId);
      return mapId === 1;
    },
    retryMs: 60_000,
    clock,
    signal: stopping.signal,
  });
  for (let turn = 0; turn < 100; turn += 1) {
    maps.want(new Set([0, 1, 2, 7]));
    await clock.settle(2_000);
  }
  stopping.abort();
  expect(asked.filter((mapId) => mapId === 1)).toHaveLength(1);
  expect(asked.filter((mapId) => mapId === 2).length).toBeGreaterThanOrEqual(3);
  expect(asked.filter((mapId) => mapId === 2).length).toBeLessThanOrEqual(4);
  expect(asked).not.toContain(7);
  expect(asked).not.toContain(0);
});
