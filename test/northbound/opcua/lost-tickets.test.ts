import { expect, it } from "vitest";
import { removeTickets } from "../../../src/northbound/opcua/opcua-store.ts";
import { createLog, silentLog } from "../../../src/platform/log.ts";
import { createLmdbStore } from "../../../src/platform/stores/lmdb-store.ts";
import { createChronicle } from "../../support/chronicle.ts";
import { createMemoryDisk } from "../../support/memory-tables.ts";

it("a record of lost tickets that the disk does not remove is logged", async () => {
  const lines = createChronicle<string>((line) => line);
  const log = createLog("info", { write: (line: string) => lines.add(line) });
  const disk = createMemoryDisk();
  disk.records.set("slots/Robots.r1.MissionSlot", {});
  disk.isFull = true;
  removeTickets(createLmdbStore(disk.store, silentLog), log);
  const line = await lines.first("the failure", (text) => text.includes("cannot be removed"));
  expect(line).toContain("the disk is full");
  disk.isFull = false;
  removeTickets(createLmdbStore(disk.store, silentLog), log);
  await new Promise(setImmediate);
  expect(disk.records.size).toBe(0);
});
