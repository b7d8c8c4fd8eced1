import { expect, it } from "vitest";
import { createHealthHistory, type Health } from "../../src/platform/component.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("knows since when a part is in its state, and asks once a second if nobody else does", async () => {
  const clock = createManualClock();
  const beginMs = clock.nowMs();
  let state: Health["state"] = "up";
  let asked = 0;
  const history = createHealthHistory(clock, () => {
    asked += 1;
    return { fleet: { state } };
  });
  expect(history.sinceMs("fleet")).toBeNull();
  history.note();
  expect(history.sinceMs("fleet")).toBe(beginMs);
  await clock.settle(1_000);
  state = "down";
  history.note();
  expect(asked).toBe(1);
  await clock.settle(1_000);
  history.note();
  expect(asked).toBe(2);
  expect(history.sinceMs("fleet")).toBe(beginMs + 2_000);
  await clock.settle(5_000);
  expect(history.health()).toEqual({ fleet: { state: "down" } });
  expect(history.sinceMs("fleet")).toBe(beginMs + 2_000);
});
