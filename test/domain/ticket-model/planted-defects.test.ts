import { expect, test } from "vitest";
import { explain } from "./counterexample.ts";
import { defects } from "./defects.ts";
import { runRandomly } from "./random-run.ts";
import { randomSetup } from "./setups.ts";
import { verdictDefects } from "./verdict-defects.ts";

const MOST_STEPS = 1_000_000;
const FIRST_SEED = 1;
const TIMEOUT_MS = 120_000;

test.each([...defects, ...verdictDefects])(
  "random moves find that $name",
  ({ name, violation, ...parts }) => {
    const found = runRandomly(MOST_STEPS, FIRST_SEED, randomSetup(parts));
    expect(found?.violation ?? "nothing was found").toMatch(violation);
    expect(found === null ? "" : explain(found)).toMatch(violation);
  },
  TIMEOUT_MS,
);
