import fc from "fast-check";
import { expect, it } from "vitest";
import { createEventReader, type ServerSentEvent } from "../../../src/console/stream/stream.ts";

function read(...pieces: readonly string[]): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const take = createEventReader((event) => events.push(event));
  for (const piece of pieces) take(piece);
  return events;
}

it("reads names, ids and data as HTML has them", () => {
  const text = [
    ": a comment",
    "event: tick",
    "data: {}",
    "",
    "id: 7",
    "data:first",
    "data: second",
    "retry: 10",
    "",
    "event: nothing",
    "",
    "data",
    "",
    "data: never ended",
  ].join("\n");
  expect(read(text)).toEqual([
    { id: "", name: "tick", data: "{}" },
    { id: "7", name: "message", data: "first\nsecond" },
    { id: "7", name: "message", data: "" },
  ]);
});

it("reads the same, wherever the text is cut, and whatever ends its lines", () => {
  const end = fc.constantFrom("\n", "\r\n", "\r");
  const data = fc.string().map((text) => text.replace(/[\r\n]/g, ""));
  fc.assert(
    fc.property(fc.array(data, { minLength: 1 }), end, fc.array(fc.nat(200)), (texts, lineEnd, cuts) => {
      const whole = texts.map((text) => `event: e${lineEnd}data: ${text}${lineEnd}${lineEnd}`).join("");
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b),
        whole.length,
      ];
      const pieces = places.slice(1).map((to, at) => whole.slice(places[at], to));
      // The end of a line of "\r" is known when the next character has come.
      expect(read(...pieces, "\n").map((event) => event.data)).toEqual(texts);
    }),
    { numRuns: 500 },
  );
});
