import { expect, it } from "vitest";
import { toPixels } from "../../../src/console/floor/camera.ts";
import { FOOT_PIXELS, fitted } from "../../../src/console/floor/picture.ts";

const points = [
  { x: 0, y: 0, name: "A", shape: "dot" as const },
  { x: 40, y: 30, name: "B", shape: "dot" as const },
];

it.each([
  { width: 288, height: 300 },
  { width: 360, height: 400 },
  { width: 1_000, height: 700 },
])("fills most of a drawing of $width × $height", (size) => {
  const camera = fitted({ points, marks: [] }, null, size);
  const [from = 0, to = 0] = points.map((point) => toPixels(camera, point).x);
  expect((to - from) / size.width).toBeGreaterThan(0.7);
  expect(size.width - to).toBeGreaterThan(20);
});

it("leaves the lower edge of a telephone to the scale and the buttons", () => {
  const size = { width: 390, height: 287 };
  const camera = fitted({ points, marks: [] }, null, size);
  const [lowest = 0, highest = 0] = points.map((point) => toPixels(camera, point).y);
  expect(Math.round(size.height - lowest)).toBeGreaterThanOrEqual(FOOT_PIXELS);
  expect(highest).toBeGreaterThan(20);
});
