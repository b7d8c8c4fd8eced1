import fc from "fast-check";
import { expect, it } from "vitest";
import { toPixels } from "../../../src/console/floor/camera.ts";
import { fitted, pictureCorners, pictureTransform } from "../../../src/console/floor/picture.ts";

const coordinate = fc.double({ min: -500, max: 500, noNaN: true });
const place = fc.record({ x: coordinate, y: coordinate });
const camera = fc.record({
  pixelsPerUnit: fc.double({ min: 0.1, max: 100, noNaN: true }),
  originX: coordinate,
  originY: coordinate,
});

type Layout = Parameters<typeof pictureTransform>[0];

const pair = fc.tuple(place, place).filter(([a, b]) => Math.hypot(a.x - b.x, a.y - b.y) > 1);
const layouts: fc.Arbitrary<Layout> = fc
  .record({
    width: fc.integer({ min: 1, max: 4_000 }),
    height: fc.integer({ min: 1, max: 4_000 }),
    pixels: pair,
    places: pair,
  })
  .map(({ width, height, pixels, places }) => ({
    map_id: 1,
    width,
    height,
    first: { pixel: pixels[0], map: places[0] },
    second: { pixel: pixels[1], map: places[1] },
  }));

it("lays both places of a drawing where they lie on the map, and stretches nothing", () => {
  fc.assert(
    fc.property(layouts, camera, (layout, view) => {
      const [a, b, c, d, e, f] = pictureTransform(layout, view);
      for (const anchor of [layout.first, layout.second]) {
        const { x, y } = anchor.pixel;
        const wanted = toPixels(view, anchor.map);
        expect(a * x + c * y + e).toBeCloseTo(wanted.x, 3);
        expect(b * x + d * y + f).toBeCloseTo(wanted.y, 3);
      }
      expect(Math.hypot(a, b)).toBeCloseTo(Math.hypot(c, d), 6);
      // A drawing is never mirrored.
      expect(a * d - b * c).toBeGreaterThan(0);
    }),
  );
});

it("has its corners where the drawing of it ends", () => {
  fc.assert(
    fc.property(layouts, camera, (layout, view) => {
      const { width, height } = layout;
      const [a, b, c, d, e, f] = pictureTransform(layout, view);
      const ends = [0, height].flatMap((y) => [0, width].map((x) => [a * x + c * y + e, b * x + d * y + f]));
      const corners = pictureCorners(layout).map((corner) => toPixels(view, corner));
      for (const [at, [x = 0, y = 0]] of ends.entries()) {
        expect(corners[at]?.x ?? Number.NaN).toBeCloseTo(x, 2);
        expect(corners[at]?.y ?? Number.NaN).toBeCloseTo(y, 2);
      }
    }),
  );
});

it("lies wholly on the canvas that is fitted, with each point", () => {
  const size = { width: 800, height: 600 };
  fc.assert(
    fc.property(layouts, place, (layout, { x, y }) => {
      const points = [{ x, y, name: "A", shape: "dot" as const }];
      const view = fitted({ points, marks: [] }, layout, size);
      for (const at of [...points, ...pictureCorners(layout)]) {
        const { x: left, y: top } = toPixels(view, at);
        expect([left >= 0, left <= size.width, top >= 0, top <= size.height]).toEqual(Array(4).fill(true));
      }
    }),
  );
});
