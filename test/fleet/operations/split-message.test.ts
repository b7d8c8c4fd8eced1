import { expect, test } from "vitest";
import { splitMessage } from "../../../src/fleet/operations/split-list.ts";

/** TimeSlices that never end, and count how often one could have. */
function countedTurns() {
  let asked = 0;
  return {
    next() {
      asked += 1;
      return undefined;
    },
    asked: () => asked,
  };
}

test("the elements of a list are found in turns, apart from the rest of the message", async () => {
  const turns = countedTurns();
  // The tags of field 1 and of field 2, both with bytes; elements of 0, 1 and 2 bytes.
  const bytes = Uint8Array.of(0x0a, 0, 0x0a, 1, 65, 0x12, 1, 66, 0x0a, 2, 67, 68);
  const { elements, rest } = await splitMessage(bytes, 1, turns);
  expect(elements.map((element) => [...element])).toEqual([[], [65], [67, 68]]);
  expect([...rest]).toEqual([0x12, 1, 66]);
  expect(turns.asked()).toBe(4);
});

test("bytes that are no message are refused", async () => {
  await expect(splitMessage(Uint8Array.of(0x0a, 9, 65), 1, countedTurns())).rejects.toThrow("premature EOF");
});
