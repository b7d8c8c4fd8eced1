import { expect, it } from "vitest";
import { newTickets } from "../../../src/domain/ticket.ts";
import { createFakeDisk } from "./memory-store.ts";

function load(record: unknown) {
  const disk = createFakeDisk();
  disk.records.set("tickets/S", record);
  return disk.open().tickets.load("S");
}

it("reads back what was kept", () => {
  const record = { tickets: newTickets("run1", 17, 5), final: null };
  expect(load(record)).toEqual(record);
});

it("takes nothing for a record that is none", () => {
  const tickets = newTickets("run1", 17, 5);
  for (const broken of [null, {}, { ...tickets, taken: 1 }, { ...tickets, reservedTo: "17" }]) {
    expect(() => load({ tickets: broken, final: null })).toThrow(
      "the record S of the table tickets is not what was written",
    );
  }
});
