import fc from "fast-check";
import { expect, test } from "vitest";
import { createExchangeBudget } from "../../../src/fleet/session/exchange.ts";

test("whoever asks as often as it may never exceeds 20 requests in any 5 minutes", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 60_000 }), { minLength: 1, maxLength: 200 }), (pauses) => {
      const budget = createExchangeBudget(1);
      const spent: number[] = [];
      let nowMs = 0;
      for (const pauseMs of pauses) {
        nowMs += pauseMs + budget.waitMs(nowMs + pauseMs);
        expect(budget.waitMs(nowMs)).toBe(0);
        budget.spend(nowMs);
        spent.push(nowMs);
      }
      for (const from of spent) {
        expect(spent.filter((at) => at >= from && at < from + 300_000).length).toBeLessThanOrEqual(20);
      }
    }),
  );
});

test("the members of a cluster have half of the rate each", () => {
  const budgets = [createExchangeBudget(2), createExchangeBudget(2)];
  for (const budget of budgets) while (budget.waitMs(0) === 0) budget.spend(0);
  expect(budgets.map((budget) => budget.spent().length)).toEqual([9, 9]);
});

test("a budget that was spent is whole again after 5 minutes", () => {
  const budget = createExchangeBudget(1);
  while (budget.waitMs(0) === 0) budget.spend(0);
  expect(budget.left(0)).toBe(0);
  expect(budget.waitMs(299_999)).toBe(1);
  expect(budget.left(300_000)).toBe(18);
});
