import { describe, expect, it } from "vitest";
import { contentFaults } from "../../bench/messages/content.ts";
import type { Side, Specimens } from "../../bench/messages/protocol.ts";

function payload(sequence: number, timestamp = "2026-01-01T00:00:00.000Z", goal = sequence % 4): string {
  return JSON.stringify({ state: { metadata: { timestamp, sequence_number: sequence }, goal } });
}

function seen(...sequences: number[]): Specimens {
  return Object.fromEntries(sequences.map((sequence) => [sequence, payload(sequence)]));
}

function faults(sides: Partial<Record<Side, Specimens>>): string[] {
  return contentFaults(new Map(Object.entries(sides) as [Side, Specimens][]));
}

describe("the comparison of what the sides publish", () => {
  it("accepts a side that was passed over and has sent fewer messages", () => {
    expect(faults({ floor: seen(1, 2, 3), gateway: seen(1, 2) })).toEqual([]);
  });

  it("ignores the time of a message", () => {
    expect(faults({ floor: seen(7), gateway: { 7: payload(7, "2026-02-02T00:00:00.000Z") } })).toEqual([]);
  });

  it("shows the states of a message that differ", () => {
    const found = faults({ floor: seen(1, 2), script: seen(1, 2), gateway: { 2: payload(2, undefined, 3) } });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('gateway: {"metadata":{"sequence_number":2},"goal":3}');
  });

  it("refuses to compare sides that have no message in common", () => {
    expect(faults({ floor: seen(1), gateway: seen(2) })).toHaveLength(1);
    expect(faults({ floor: seen(1), gateway: {} })).toHaveLength(1);
  });
});
