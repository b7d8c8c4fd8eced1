import { expect, it } from "vitest";
import { newTickets } from "../../../src/domain/ticket.ts";
import { createMemberTickets } from "../../../src/northbound/opcua/commands/ticket-store.ts";
import { openMemory } from "../../../src/northbound/opcua/opcua-store.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createLmdbStore } from "../../../src/platform/stores/lmdb-store.ts";
import { createMemoryDisk } from "../../support/memory-tables.ts";
import { createFakeDisk } from "./memory-store.ts";

function load(record: unknown) {
  const disk = createFakeDisk();
  disk.records.set("slots/S", record);
  return disk.open().tickets.load("S");
}

it("reads back what was kept", () => {
  const record = { tickets: newTickets("run1", 17, 5), final: null };
  expect(load(record)).toEqual(record);
});

it("of a cluster are those of the leader's tables, for each member that leads", async () => {
  const disk = createMemoryDisk();
  const tables = () => createLmdbStore(disk.store, silentLog);
  const record = { tickets: newTickets("run1", 17, 5), final: null };
  const [left, right] = [createMemberTickets(), createMemberTickets()];
  expect(() => right.load("S")).toThrow("before this member leads");
  left.lead(tables());
  await left.save("S", record);
  right.lead(tables());
  const { tickets, ticketsLost, close } = openMemory("/nowhere", disk.open(), silentLog, null, right);
  expect([tickets.load("S"), tickets.load("other"), ticketsLost]).toEqual([record, null, null]);
  await close();
});

it("takes nothing for a record that is none", () => {
  const tickets = newTickets("run1", 17, 5);
  for (const broken of [null, {}, { ...tickets, taken: 1 }, { ...tickets, reservedTo: "17" }]) {
    expect(() => load({ tickets: broken, final: null })).toThrow(
      "the record S of the table slots is not what was written",
    );
  }
});
