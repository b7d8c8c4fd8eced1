import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Defect, World } from "./model.ts";
import { anyStep } from "./model-steps.ts";

/**
 * Random commands, duplicates, faults, crashes: each world is played to its end and held against the
 * service's record.
 */
function promise(defect: Defect | null, seen: Map<string, number>) {
  return fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 60 }), async (steps) => {
    const world = new World(defect);
    await world.begin();
    for (const step of steps) await world.step(step);
    await world.finish();
    world.check();
    for (const { told } of world.senders) {
      const name = told[0]?.outcome ?? "none";
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  });
}

describe("the dispatcher in a world of faults", () => {
  it("sends nothing twice, contradicts no record, and leaves nothing without an outcome", async () => {
    const seen = new Map<string, number>();
    await fc.assert(promise(null, seen), { numRuns: 1_500, seed: 11 });
    // A model that never comes to an outcome would prove nothing about it.
    for (const outcome of ["succeeded", "refused", "expired", "probably_succeeded", "unknown"]) {
      expect(seen.get(outcome) ?? 0, outcome).toBeGreaterThan(20);
    }
  }, 120_000);

  it.each<[Defect, RegExp]>([
    ["sync", /left before its record was synced/],
    ["expiry", /left after its expiry/],
    ["queue", /commands in flight for/],
    ["evidence", /could have been known/],
    ["pruning", /was sent 2 times|was told \w+ and expired/],
  ])(
    "a planted defect is found: without %s",
    async (defect, complaint) => {
      const result = await fc.check(promise(defect, new Map()), {
        numRuns: 1_500,
        seed: 11,
        endOnFailure: true,
      });
      expect(result.failed).toBe(true);
      expect(String(result.errorInstance)).toMatch(complaint);
    },
    120_000,
  );
});
