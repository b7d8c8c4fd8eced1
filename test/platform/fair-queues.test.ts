import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFairQueues } from "../../src/platform/queues.ts";
import { oldBytesOf } from "../support/old-garbage.ts";

describe("fair queues", () => {
  it("push out the oldest of the key that has most waiting, and say so", () => {
    const queues = createFairQueues<string>(4);
    for (const item of ["a1", "a2", "a3", "b1"]) expect(queues.push(item.slice(0, 1), item)).toBeNull();
    expect(queues.push("c", "c1")).toEqual({ key: "a", item: "a1" });
    expect(queues.push("b", "b2")).toEqual({ key: "a", item: "a2" });
    expect(queues.push("b", "b3")).toEqual({ key: "b", item: "b1" });
    expect(queues.length).toBe(4);
  });

  it("serve each key in turn, the oldest of each first", () => {
    const queues = createFairQueues<string>(10);
    for (const item of ["a1", "a2", "a3", "b1", "c1", "c2"]) queues.push(item.slice(0, 1), item);
    const served: Array<string | null> = [];
    while (queues.length > 0) served.push(queues.next());
    expect(served).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
    expect(queues.next()).toBeNull();
  });

  it("leave nothing of what was evicted for a full collection", () => {
    const queues = createFairQueues<number>(1_000);
    const keys = Array.from({ length: 100 }, (_, key) => `robot-${key}`);
    const push = (item: number) => queues.push(keys[item % keys.length] ?? "", item);
    for (let item = 0; item < 10_000; item += 1) push(item);
    const bytes = oldBytesOf(() => {
      for (let item = 0; item < 3_000_000; item += 1) push(item);
    });
    expect(bytes).toBeLessThan(4_000_000);
  });

  it("do what a search through all of them would do", () => {
    type Step = { readonly do: "push" | "shift" | "next"; readonly key: string };
    const step: fc.Arbitrary<Step> = fc.record({
      do: fc.constantFrom("push", "push", "push", "shift", "next"),
      key: fc.constantFrom("a", "a", "a", "b", "c", "d"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 12 }), (steps, limit) => {
        const queues = createFairQueues<number>(limit);
        const model = new Map<string, number[]>();
        let turns: string[] = [];
        let pushed = 0;
        const take = (key: string) => {
          const oldest = model.get(key)?.shift();
          if (model.get(key)?.length === 0) {
            model.delete(key);
            turns = turns.filter((other) => other !== key);
          }
          return oldest;
        };
        const held = () => [...model.values()].reduce((sum, queue) => sum + queue.length, 0);
        for (const { do: what, key } of steps) {
          if (what === "push") {
            pushed += 1;
            if (!model.has(key)) turns.push(key);
            model.set(key, [...(model.get(key) ?? []), pushed]);
            const most = Math.max(...Array.from(model.values(), (queue) => queue.length));
            const gone = queues.push(key, pushed);
            expect(gone !== null).toBe(held() > limit);
            if (gone === null) continue;
            expect(model.get(gone.key)).toHaveLength(most);
            expect(take(gone.key)).toBe(gone.item);
          } else if (what === "shift") {
            take(key);
            queues.shift(key);
          } else {
            const [first] = turns;
            turns = [...turns.slice(1), ...turns.slice(0, 1)];
            expect(queues.next()).toBe(first === undefined ? null : take(first));
          }
          expect(queues.length).toBe(held());
        }
      }),
      { numRuns: 500 },
    );
  });
});
