import { describe, expect, it } from "vitest";
import { createArrangement } from "../../../src/console/floor/arrangement.ts";
import type { Mark, Scene } from "../../../src/console/floor/scene.ts";
import { expectReadable, markAt } from "./readable.ts";

const size = { width: 1_000, height: 760 };
/** A pixel of the drawing is a unit of the map, whose y goes up. */
const camera = { pixelsPerUnit: 1, originX: 0, originY: size.height };
const noPoints: Scene["points"] = [];

function markOn(robotId: string, x: number, y: number, changes: Partial<Mark> = {}): Mark {
  return markAt(robotId, x, y, { place: { x, y, headingRadians: null }, ...changes }).mark;
}

function sceneOf(marks: readonly Mark[], isMoving = true): Scene {
  return { points: noPoints, marks, trail: [], ahead: [], direction: null, isMoving };
}

const arranged = () => {
  const arrangement = createArrangement((text) => text.length * 6.5);
  return (...marks: Mark[]) => arrangement.at(sceneOf(marks), camera, size);
};

describe("marks that move", () => {
  it("take their names along, which look for room anew only after a pixel", () => {
    const at = arranged();
    const first = at(markOn("cart-1", 100, 100));
    const next = at(markOn("cart-1", 100.9, 100));
    expect(next.stacks).toBe(first.stacks);
    expect(next.labels[0]?.of).toMatchObject({ x: 100.9 });
    expect(at(markOn("cart-1", 101.1, 100)).stacks).not.toBe(first.stacks);
  });

  it("are laid out anew if one is another, has another note, or is chosen, and when all stand", () => {
    const at = arranged();
    const textsOf = (...marks: Mark[]) => at(...marks).labels.map(({ text }) => text);
    expect(textsOf(markOn("cart-1", 100, 100))).toEqual(["cart-1"]);
    expect(textsOf(markOn("cart-2", 100, 100))).toEqual(["cart-2"]);
    expect(textsOf(markOn("cart-2", 100, 100, { note: "paused" }))).toEqual(["cart-2: paused"]);
    expect(at(markOn("cart-2", 100, 100, { isChosen: true })).labels[0]?.isChosen).toBe(true);
    expect(textsOf()).toEqual([]);
    const arrangement = createArrangement((text) => text.length * 6.5);
    const stand = () => arrangement.at(sceneOf([markOn("cart-1", 100, 100)], false), camera, size);
    expect(stand().stacks).not.toBe(stand().stacks);
  });

  it("have no name over a name or a mark in any frame", () => {
    const at = arranged();
    let kept = 0;
    let before: readonly unknown[] = [];
    for (let frame = 0; frame < 60; frame += 1) {
      const marks = Array.from({ length: 300 }, (_, number) => {
        const turn = frame / 20 + number;
        const [x, y] = [40 + 48 * (number % 20), 60 + 46 * Math.floor(number / 20)];
        const emphasis = number % 20 === 0 ? "alarm" : number % 9 === 0 ? "abnormal" : "normal";
        return markOn(`cart-${number}`, x + 9 * Math.cos(turn), y + 9 * Math.sin(turn), { emphasis });
      });
      const { stacks, labels, pointNames } = at(...marks);
      if (stacks === before) kept += 1;
      before = stacks;
      expectReadable({ stacks, labels }, pointNames);
    }
    expect(kept).toBeGreaterThan(20);
  });
});
