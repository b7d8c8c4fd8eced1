import { describe, expect, it } from "vitest";
import { defects, foundByModel, outside } from "./defects.ts";
import { explain, runMany } from "./random-run.ts";
import { soundParts } from "./world.ts";

/** The whole: CLUSTER_RUNS=100000. */
const RUNS = Number(process.env.CLUSTER_RUNS ?? 1_000);
const FIRST_SEED = Number(process.env.CLUSTER_SEED ?? 1);
const TIMEOUT_MS = 60_000 + 10 * RUNS;

describe("two members, with what networks, clocks and processes do to them", () => {
  it(
    "break no invariant",
    async () => {
      const seen = new Map<string, number>();
      const found = await runMany(soundParts, RUNS, FIRST_SEED, (world) => {
        for (const what of world.seen()) seen.set(what, (seen.get(what) ?? 0) + 1);
      });
      expect(found === null ? null : await explain(soundParts, found)).toBeNull();
      // A model in which nothing happens would prove nothing.
      for (const what of ["succeeded", "refused", "expired", "probably_succeeded", "unknown", "takeover"])
        expect(seen.get(what) ?? 0, what).toBeGreaterThan(RUNS / 100);
    },
    TIMEOUT_MS,
  );

  it.each([...defects, ...foundByModel, outside])(
    "do so with $name",
    async ({ violation, ...parts }) => {
      const found = await runMany(parts, RUNS, FIRST_SEED);
      expect(found?.violation ?? "nothing was found").toMatch(violation);
    },
    TIMEOUT_MS,
  );
});
