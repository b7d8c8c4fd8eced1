import { describe, expect, test } from "vitest";
import type { Catalogue, Operation } from "../../src/contracts/operation.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { nameOf, tryAll, violations } from "./decidability.ts";
import { commandTable, faults, freeTable } from "./decidability-table.ts";

test("the table has every operation of the catalogue, and each of its rows a name of its own", () => {
  const rows = [...commandTable, ...freeTable];
  expect(new Set(rows.map(({ operation }) => operation))).toEqual(new Set(createCatalogue().keys()));
  expect(new Set(rows.map(nameOf)).size).toBe(rows.length);
});

describe.each(faults)("after %s", (fault) => {
  test("every command is told what can be known, and nothing else", async () => {
    const trials = await tryAll(commandTable, fault);
    expect(trials).toHaveLength(commandTable.length);
    expect(trials.flatMap(violations)).toEqual([]);
  }, 40_000);

  test("what is free to be asked again comes to its end", async () => {
    const trials = await tryAll(freeTable, fault);
    expect(trials).toHaveLength(freeTable.length);
    expect(trials.flatMap(violations)).toEqual([]);
  }, 40_000);
});

describe("without evidence the table does not hold", () => {
  /** A defect planted on purpose: every operation, without its evidence rule. */
  const blind: Catalogue = new Map(
    [...createCatalogue()].map(([name, operation]): [string, Operation] => [
      name,
      {
        ...operation,
        parse(json) {
          const parsed = operation.parse(json);
          if (!parsed.ok) return parsed;
          return { ok: true, request: { ...parsed.request, evidence: { kind: "none" } } };
        },
      },
    ]),
  );

  test.each(["delay-taken", "cut-after"] as const)(
    "after %s",
    async (fault) => {
      const trials = await tryAll(commandTable, fault, blind);
      const broken = new Set(trials.filter((trial) => violations(trial).length > 0).map(({ name }) => name));
      // Every row whose effect only evidence can show; those that are repeated may still be told by the repeat.
      const shown = trials.filter(
        ({ row }) => !row.isRepeatable && row.allowed[fault].join() === "probably_succeeded",
      );
      expect(shown.length).toBeGreaterThan(8);
      for (const { name } of shown) expect(broken).toContain(name);
    },
    40_000,
  );
});
