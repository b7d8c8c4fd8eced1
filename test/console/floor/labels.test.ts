import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LABEL_HEIGHT, type Label, type MarkAt, placeLabels } from "../../../src/console/floor/labels.ts";

const size = { width: 400, height: 300 };
const widthOf = (text: string) => text.length * 6.5;
const markAt = (robotId: string, x: number, y: number, changes: Partial<MarkAt["mark"]> = {}): MarkAt => ({
  mark: { robotId, name: robotId, note: "", emphasis: "normal", isChosen: false, ...changes },
  x,
  y,
});
const textsOf = (...marks: MarkAt[]) => placeLabels(marks, size, widthOf).map(({ text }) => text);

const anyMarks = fc
  .uniqueArray(fc.integer({ min: 0, max: 999 }), { maxLength: 40 })
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

function overlaps(a: Label, b: Label): boolean {
  const [from, to] = [Math.max(a.left, b.left), Math.min(a.left + widthOf(a.text), b.left + widthOf(b.text))];
  return from < to && Math.abs(a.bottom - b.bottom) < LABEL_HEIGHT;
}

describe("the names of the floor", () => {
  it("are all there where there is room", () => {
    expect(
      textsOf(markAt("cart-1", 50, 50), markAt("cart-2", 50, 90), markAt("cart-3", 150, 50)),
    ).toHaveLength(3);
  });

  it("leave the place to the chosen robot, then to alarms, then to what is unusual, then to the id", () => {
    const here = (robotId: string, changes: Partial<MarkAt["mark"]> = {}) => markAt(robotId, 50, 50, changes);
    const normal = [here("cart-3"), here("cart-2")];
    const abnormal = here("cart-4", { emphasis: "abnormal", note: "paused" });
    const alarm = here("cart-5", { emphasis: "alarm", note: "lost" });
    expect(textsOf(...normal)).toEqual(["cart-2"]);
    expect(textsOf(...normal, abnormal)).toEqual(["cart-4: paused"]);
    expect(textsOf(...normal, abnormal, alarm)).toEqual(["cart-5: lost"]);
    expect(textsOf(...normal, abnormal, alarm, here("cart-9", { isChosen: true }))).toEqual(["cart-9"]);
  });

  it("stand left of a mark at the right edge", () => {
    const [label] = placeLabels([markAt("cart-1", 390, 50)], size, widthOf);
    expect(label).toMatchObject({ left: 390 - 14 - widthOf("cart-1") });
  });

  it("go without a note that has no room", () => {
    const paused = markAt("cart-1", 50, 50, { emphasis: "abnormal", note: "waits for confirmation" });
    const alarm = markAt("cart-2", 150, 50, { emphasis: "alarm" });
    expect(textsOf(paused, alarm)).toEqual(["cart-2", "cart-1"]);
  });

  it("never lie over each other, and always have that of the chosen robot", () => {
    let left = 0;
    fc.assert(
      fc.property(anyMarks, (marks) => {
        const labels = placeLabels(marks, size, widthOf);
        labels.forEach((label, at) => {
          expect(labels.slice(at + 1).filter((other) => overlaps(label, other))).toEqual([]);
        });
        expect(labels.filter(({ isChosen }) => isChosen)).toHaveLength(
          marks.filter(({ mark }) => mark.isChosen).length,
        );
        if (labels.length < marks.length) left += 1;
      }),
      { numRuns: 300 },
    );
    expect(left).toBeGreaterThan(10);
  });

  it("do not depend on the order in which robots were heard of", () => {
    fc.assert(
      fc.property(anyMarks, (marks) => {
        expect(placeLabels([...marks].reverse(), size, widthOf)).toEqual(placeLabels(marks, size, widthOf));
      }),
    );
  });
});
