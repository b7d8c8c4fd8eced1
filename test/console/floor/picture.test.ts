import fc from "fast-check";
import { expect, it } from "vitest";
import { toPixels } from "../../../src/console/floor/camera.ts";
import { pictureTransform } from "../../../src/console/floor/picture.ts";

const coordinate = fc.double({ min: -500, max: 500, noNaN: true });
const place = fc.record({ x: coordinate, y: coordinate });
const camera = fc.record({
  pixelsPerUnit: fc.double({ min: 0.1, max: 100, noNaN: true }),
  originX: coordinate,
  originY: coordinate,
});

it("lays both places of a drawing where they lie on the map, and stretches nothing", () => {
  const pair = fc.tuple(place, place).filter(([a, b]) => Math.hypot(a.x - b.x, a.y - b.y) > 1);
  fc.assert(
    fc.property(pair, pair, camera, (pixels, places, view) => {
      const [first, second] = [0, 1].map((at) => ({ pixel: pixels[at], map: places[at] }));
      if (first?.pixel === undefined || second?.pixel === undefined) throw new Error("no places");
      const layout = { map_id: 1, width: 100, height: 100, first, second } as Parameters<
        typeof pictureTransform
      >[0];
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
