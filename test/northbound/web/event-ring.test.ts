import { expect, it } from "vitest";
import { createEventRing } from "../../../src/northbound/web/stream/readers.ts";

it("writes an event when a reader first gets it, and once", () => {
  const ring = createEventRing("s1", 2);
  const written: number[] = [];
  for (const number of [1, 2, 3]) {
    ring.push(() => {
      written.push(number);
      return `event ${number}`;
    });
  }
  expect([ring.first(), ring.next(), written]).toEqual([2, 4, []]);
  expect([ring.at(3), ring.at(3), ring.at(1)]).toEqual(["event 3", "event 3", undefined]);
  expect(written).toEqual([3]);
  expect(ring.resume("s1.1")).toEqual({ from: 2, missing: 0 });
});
