import { expect, it } from "vitest";
import { newTickets } from "../../../src/domain/ticket.ts";
import { createFakeDisk } from "./memory-store.ts";

function load(record: unknown) {
  const disk = createFakeDisk();
  disk.records.set("t/S", record);
  return disk.open().tickets.load("S");
}

it("reads a slot's record of before earlier tickets were remembered: an update closes no slot", () => {
  const { earlier: _, ...tickets } = newTickets("e1", 5);
  const rest = { user: "line1", final: null };
  expect(load({ tickets, ...rest })).toEqual({ tickets: newTickets("e1", 5), ...rest });
});

it("takes nothing for a record that is none", () => {
  for (const tickets of [null, {}, { ...newTickets("e1", 5), earlier: 1 }]) {
    expect(() => load({ tickets, user: null, final: null })).toThrow("what is kept of S is no ticket record");
  }
});
