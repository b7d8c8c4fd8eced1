import fc from "fast-check";
import { expect, test } from "vitest";
import {
  evaluateSequence,
  missedBetween,
  type SequenceMark,
} from "../../src/fleet/streams/sequence-tracker.ts";

const mark = (sequence: number | null, sourceTimeMs: number | null = null): SequenceMark => ({
  sequence,
  sourceTimeMs,
});

test.each([
  ["the first of all sets the baseline", null, mark(7, 1000), true, "fresh"],
  ["larger is news", mark(7, 1000), mark(8, 1001), false, "fresh"],
  ["equal is a repeat", mark(7, 1000), mark(7, 1000), false, "repeat"],
  ["equal is a repeat whatever its time", mark(7, 1000), mark(7, 2000), false, "repeat"],
  ["0 is a reset", mark(7, 1000), mark(0, 1001), false, "reset"],
  ["0 after 0 at the same moment is a repeat", mark(0, 1000), mark(0, 1000), false, "repeat"],
  ["0 after 0 at another moment is another reset", mark(0, 1000), mark(0, 1001), false, "reset"],
  ["lower and not 0 means that a reset was missed", mark(7, 1000), mark(3, 1001), false, "regressed"],
  ["a snapshot that repeats is a repeat", mark(7, 1000), mark(7, 1000), true, "repeat"],
  ["a snapshot that is newer is news", mark(7, 1000), mark(9, 1001), true, "fresh"],
  ["a snapshot with a lower number and a later time is a reset", mark(7, 1000), mark(3, 1001), true, "reset"],
  [
    "a snapshot with the same number and a later time is a reset",
    mark(7, 1000),
    mark(7, 1001),
    true,
    "reset",
  ],
  ["a snapshot older than what is held is dropped", mark(7, 1000), mark(6, 999), true, "outdated"],
  ["a lower number of the same moment is older", mark(7, 1000), mark(6, 1000), true, "outdated"],
  ["a larger number at an earlier time is dropped too", mark(7, 1000), mark(9, 999), true, "outdated"],
  ["a message without a number is news", mark(7, 1000), mark(null), false, "fresh"],
  ["a number after none is news", mark(null), mark(3, 1), false, "fresh"],
  ["without times, a snapshot sets the baseline", mark(7), mark(3), true, "reset"],
] as const)("%s", (_, held, incoming, isFirst, verdict) => {
  expect(evaluateSequence(held, incoming, isFirst)).toBe(verdict);
});

test("a snapshot older than what is held is believed on the third subscription in a row", () => {
  const held = mark(7, 1000);
  const older = mark(8, 400);
  expect([0, 1, 2].map((before) => evaluateSequence(held, older, true, before))).toEqual([
    "outdated",
    "outdated",
    "set_back",
  ]);
  // What is not older is judged as ever, however many were.
  expect(evaluateSequence(held, held, true, 2)).toBe("repeat");
  expect(evaluateSequence(held, mark(8, 1001), true, 2)).toBe("fresh");
});

test("what is missing between two messages is counted", () => {
  expect(missedBetween(mark(3), mark(4))).toBe(0);
  expect(missedBetween(mark(3), mark(7))).toBe(3);
  expect(missedBetween(null, mark(7))).toBe(0);
  // A jump that no robot makes must not hide the gaps of the others in the sum.
  expect(missedBetween(mark(0), mark(Number.MAX_SAFE_INTEGER))).toBe(1_000_000);
  expect(missedBetween(mark(7), mark(0))).toBe(0);
});

/** A robot's own line: numbers that grow, and resets to 0, at times that grow. */
const robotLine = fc
  .array(fc.record({ step: fc.integer({ min: 1, max: 3 }), reset: fc.boolean() }), {
    minLength: 1,
    maxLength: 30,
  })
  .map((steps) => {
    let sequence = 0;
    return steps.map(({ step, reset }, index) => {
      sequence = reset && index > 0 ? 0 : sequence + step;
      return mark(sequence, 1_000 + index);
    });
  });

/** What a listener holds after these messages of one subscription. */
function listen(messages: readonly SequenceMark[], start: SequenceMark | null = null) {
  let held = start;
  let wantsSnapshot = false;
  messages.forEach((message, index) => {
    const verdict = evaluateSequence(held, message, index === 0);
    if (verdict === "fresh" || verdict === "reset") held = message;
    if (verdict === "regressed") wantsSnapshot = true;
  });
  return { held, wantsSnapshot };
}

test("a line that arrives whole is taken whole", () => {
  fc.assert(
    fc.property(robotLine, (line) => {
      expect(listen(line).held).toEqual(line.at(-1));
    }),
  );
});

test("repeats change nothing", () => {
  fc.assert(
    fc.property(robotLine, (line) => {
      expect(listen(line.flatMap((message) => [message, message])).held).toEqual(line.at(-1));
    }),
  );
});

test("whatever is lost: a listener holds the newest, or its number is larger, or it asks for a snapshot", () => {
  fc.assert(
    fc.property(robotLine, fc.infiniteStream(fc.boolean()), (line, keep) => {
      const received = line.filter((_, index) => index === 0 || keep.next().value);
      const last = received.at(-1);
      const { held, wantsSnapshot } = listen(received);
      const isAhead = (held?.sequence ?? 0) >= (last?.sequence ?? 0);
      expect(held === last || wantsSnapshot || isAhead).toBe(true);
      // The snapshot of the next subscription puts it right, whatever went before.
      expect(listen(line.slice(-1), held).held).toEqual(line.at(-1));
    }),
  );
});

test("a snapshot that was overtaken never takes a value back", () => {
  fc.assert(
    fc.property(robotLine, fc.nat(), (line, at) => {
      const newest = line.at(-1) ?? null;
      const late = line[at % line.length];
      if (late === undefined) return;
      expect(listen([late], newest).held).toEqual(newest);
    }),
  );
});
