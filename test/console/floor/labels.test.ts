import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layoutOf, type PointAt, type Spots } from "../../../src/console/floor/labels.ts";
import { type Box, type MarkAt, SLACK } from "../../../src/console/floor/stacks.ts";
import { expectReadable, markAt } from "./readable.ts";

const size = { width: 400, height: 300 };
/** From the centre of a mark to the tip that shows its heading, with its line. */
const TIP = 12.75;
const widthOf = (text: string) => text.length * 6.5;
const layout = (marks: readonly MarkAt[], points: readonly PointAt[] = []) =>
  layoutOf(marks, points, { size, widthOf });
const textsOf = (...marks: MarkAt[]) => layout(marks).labels.map(({ text }) => text);

const anyMarks = fc
  .uniqueArray(fc.integer({ min: 0, max: 999 }), { maxLength: 60 })
  .chain((ids) =>
    fc.record({
      chosen: fc.option(fc.nat({ max: 39 })),
      marks: fc.tuple(
        ...ids.map((id) =>
          fc.record({
            id: fc.constant(`cart-${id}`),
            x: fc.double({ min: 0, max: 399, noNaN: true }),
            y: fc.double({ min: 20, max: 290, noNaN: true }),
            emphasis: fc.constantFrom("normal", "abnormal", "alarm" as const),
          }),
        ),
      ),
    }),
  )
  .map(({ marks, chosen }) =>
    marks.map(({ id, x, y, emphasis }, at) =>
      markAt(id, x, y, { emphasis, note: emphasis === "normal" ? "" : "paused", isChosen: at === chosen }),
    ),
  );
const anyPoints = fc.array(
  fc.record({
    name: fc.constantFrom("P1", "Station A"),
    x: fc.double({ min: 0, max: 399, noNaN: true }),
    y: fc.double({ min: 0, max: 299, noNaN: true }),
  }),
  { maxLength: 20 },
);

describe("the names of the floor", () => {
  it("are all there where there is room", () => {
    expect(
      textsOf(markAt("cart-1", 50, 50), markAt("cart-2", 50, 90), markAt("cart-3", 150, 50)),
    ).toHaveLength(3);
  });

  it("stand left of a mark at the right edge, and go without a note that has no room", () => {
    const [label] = layout([markAt("cart-1", 390, 50)]).labels;
    expect(label).toMatchObject({ right: 390 - 20, leader: null });
    const long = "waits for confirmation ".repeat(4);
    expect(textsOf(markAt("cart-1", 50, 50, { emphasis: "abnormal", note: long }))).toEqual(["cart-1"]);
  });

  it("of a point are not beside another point, whose names they would seem to be", () => {
    // A robot above and one below leave room at the sides alone, and the right one ends the drawing.
    const marks = [markAt("cart-1", 391, 80), markAt("cart-2", 391, 120)];
    const points = [
      { name: "Home 3", x: 391, y: 100 },
      { name: "WP-4", x: 324, y: 100 },
    ];
    const named = layout(marks, points).pointNames.map(({ text }) => text);
    expect(named).toEqual(["WP-4"]);
    expect(layout(marks, points.slice(0, 1)).pointNames).toHaveLength(1);
  });

  it("go to the end of a line where there is no room beside the mark", () => {
    const around = [0, 1, 2, 3, 4].map((at) => markAt(`other-${at}`, 60 + 14 * at, 100));
    const { labels } = layout([...around, markAt("cart-1", 88, 114)]);
    expect(labels).toHaveLength(6);
    expect(labels.some(({ leader }) => leader !== null)).toBe(true);
  });

  it("never lie over each other or over a mark, and always have that of the chosen robot", () => {
    let left = 0;
    fc.assert(
      fc.property(anyMarks, anyPoints, (marks, points) => {
        const whole = layout(marks, points);
        expectReadable(whole, whole.pointNames);
        const near = whole.stacks.flatMap(({ first: a }, at) =>
          whole.stacks.slice(at + 1).filter(({ first: b }) => Math.hypot(a.x - b.x, a.y - b.y) < 12),
        );
        expect(near).toEqual([]);
        expect(whole.labels.filter(({ isChosen }) => isChosen)).toHaveLength(
          marks.filter(({ mark }) => mark.isChosen).length,
        );
        if (whole.labels.length < marks.length) left += 1;
      }),
      { numRuns: 300 },
    );
    expect(left).toBeGreaterThan(10);
  });

  it("keep a distance from the tips of other marks, also when both have moved by the slack", () => {
    const name = "cart-1";
    const gaps = Array.from({ length: 60 * 60 }, (_, at) => {
      const other = markAt("", 100 + (at % 60), 100 + Math.floor(at / 60));
      const { stacks, labels } = layout([markAt(name, 100, 100), other]);
      const label = labels.find(({ text }) => text === name);
      if (stacks.length < 2 || label === undefined) return Number.POSITIVE_INFINITY;
      return Math.max(
        Math.max(label.left - other.x, other.x - label.right),
        Math.max(label.top - other.y, other.y - label.bottom),
      );
    });
    expect(Math.min(...gaps) - TIP - 2 * SLACK).toBeGreaterThanOrEqual(1);
  });

  it("do not depend on the order in which robots were heard of", () => {
    fc.assert(
      fc.property(anyMarks, (marks) => {
        expect(layout([...marks].reverse())).toEqual(layout(marks));
      }),
    );
  });

  it("stay where they were while there is room, and keep clear of names that are fixed", () => {
    const spots: Spots = new Map();
    const fixed: Box = { left: 160, top: 130, right: 300, bottom: 170 };
    const labelAt = (x: number, boxes: readonly Box[]) =>
      layoutOf([markAt("cart-1", x, 150)], [], { size, widthOf, spots, fixed: boxes }).labels[0];
    expect(labelAt(150, [fixed])?.right).toBeLessThan(150);
    expect(labelAt(152, [])?.right).toBeLessThan(152);
  });
});

describe("a name without room", () => {
  const spots: Spots = new Map();
  const wall: Box = { left: 0, top: 0, right: 400, bottom: 300 };
  const labelOf = (isChosen: boolean, isQuick: boolean, fixed: readonly Box[]) =>
    layoutOf([markAt("cart-1", 150, 150, { isChosen })], [], { size, widthOf, spots, fixed, isQuick })
      .labels[0];

  it("stays away until names look for room anew, unless its robot is chosen", () => {
    expect(labelOf(false, true, [wall])).toBeUndefined();
    expect(labelOf(false, true, [])).toBeUndefined();
    expect(labelOf(true, true, [])).toBeDefined();
    expect(labelOf(false, true, [wall])).toBeUndefined();
    expect(labelOf(false, false, [])).toBeDefined();
    expect(labelOf(false, true, [])).toBeDefined();
  });
});

describe("marks at one place", () => {
  const here = (robotId: string, changes: Partial<MarkAt["mark"]> = {}) => markAt(robotId, 50, 50, changes);
  const abnormal = here("cart-4", { emphasis: "abnormal", note: "paused" });
  const alarm = here("cart-5", { emphasis: "alarm", note: "lost" });
  const chosen = here("cart-9", { isChosen: true });

  it("are one with a count, and the most severe is drawn", () => {
    const { stacks } = layout([here("cart-3"), alarm, abnormal, markAt("cart-6", 58, 55)]);
    expect(stacks).toMatchObject([{ worst: { mark: { robotId: "cart-5" } }, count: 4, chosenName: null }]);
    expect(layout([chosen, alarm]).stacks).toMatchObject([
      { worst: { mark: { robotId: "cart-5" } }, count: 2, chosenName: "cart-9" },
    ]);
  });

  it("have the name of the most severe, then of the lowest id, and always that of the chosen robot", () => {
    const normal = [here("cart-3"), here("cart-2")];
    expect(textsOf(...normal)).toEqual(["cart-2"]);
    expect(textsOf(...normal, abnormal)).toEqual(["cart-4: paused"]);
    expect(textsOf(...normal, abnormal, alarm)).toEqual(["cart-5: lost"]);
    expect(textsOf(...normal, abnormal, alarm, chosen)).toEqual(["cart-9, cart-5: lost"]);
    expect(textsOf(...normal, chosen)).toEqual(["cart-9"]);
  });
});

describe("300 robots on a drawing of a screen with 1440 by 900 pixels", () => {
  const screen = { width: 1_000, height: 760 };
  /** Racks with aisles between, robots along these, some of them at the same stations. */
  const points = Array.from({ length: 60 }, (_, at) => ({
    name: at % 5 === 0 ? `Station ${at / 5 + 1}` : `P${at}`,
    x: 60 + 98 * (at % 10),
    y: 60 + 125 * Math.floor(at / 10),
  }));
  const emphasisOf = (at: number) => (at % 20 === 0 ? "alarm" : at % 9 === 0 ? "abnormal" : "normal");
  const robots = Array.from({ length: 300 }, (_, at) => {
    const robotId = `cart-${`${at + 1}`.padStart(3, "0")}`;
    const emphasis = emphasisOf(at);
    const note = emphasis === "normal" ? "" : emphasis === "alarm" ? "battery critical" : "paused";
    const aisle = at % 12;
    const station = points[5 * (at % 12)];
    if (at % 10 === 0 && station !== undefined)
      return markAt(robotId, station.x, station.y, { emphasis, note });
    return markAt(robotId, 30 + ((at * 137) % 940), 40 + 62 * aisle + ((at * 7) % 5), { emphasis, note });
  });
  const whole = layoutOf(robots, points, { size: screen, widthOf });

  it("has no name over a name or a mark, and hides no mark", () => {
    expectReadable(whole, whole.pointNames);
    expect(whole.stacks.reduce((sum, { count }) => sum + count, 0)).toBe(300);
  });

  it("names nearly every mark, and every one that has an alarm", () => {
    const named = new Set(whole.labels.map(({ text }) => text.split(":")[0]));
    const missing = whole.stacks.filter(({ worst }) => !named.has(worst.mark.name));
    expect(missing.filter(({ worst }) => worst.mark.emphasis === "alarm")).toEqual([]);
    expect(missing.length / whole.stacks.length).toBeLessThan(0.05);
  });
});
