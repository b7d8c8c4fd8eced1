import { describe, expect, test } from "vitest";
import { tryAll, violations } from "./decidability.ts";
import { commandTableIn, freeTableOverRest, modeNames, modes } from "./decidability-modes.ts";
import { faults } from "./decidability-table.ts";

/**
 * The same table where the service is reached by other ways: what they show must be used, and what they do
 * not is unknown.
 */
describe.each(modeNames)("%s", (name) => {
  test.each(faults)("after %s every command is told what can be known, and nothing else", async (fault) => {
    const rows = commandTableIn(name);
    const trials = await tryAll(rows, fault, { mode: modes[name] });
    expect(trials).toHaveLength(rows.length);
    expect(trials.flatMap(violations)).toEqual([]);
  });
});

test.each(faults)("over rest, after %s, what is free to be asked again comes to its end", async (fault) => {
  const trials = await tryAll(freeTableOverRest, fault, { mode: modes.rest });
  expect(trials).toHaveLength(freeTableOverRest.length);
  expect(trials.flatMap(violations)).toEqual([]);
});
