import { expect, test } from "vitest";
import { createRecent } from "../../src/platform/recent.ts";

test("the newest are kept, and what is kept again is new again", () => {
  const recent = createRecent<number>(2);
  recent.keep("a", 1);
  recent.keep("b", 2);
  recent.keep("a", 3);
  recent.keep("c", 4);
  expect([recent.find("a"), recent.find("b"), recent.find("c")]).toEqual([3, undefined, 4]);
});
