import { describe, expect, test } from "vitest";
import type { Catalogue, Operation, Parsed } from "../../src/contracts/operation.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { nameOf, tryAll, violations } from "./decidability.ts";
import {
  commandTable,
  type DecidabilityRow,
  type FaultName,
  faults,
  freeTable,
} from "./decidability-table.ts";

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
  });

  test("what is free to be asked again comes to its end", async () => {
    const trials = await tryAll(freeTable, fault);
    expect(trials).toHaveLength(freeTable.length);
    expect(trials.flatMap(violations)).toEqual([]);
  });
});

/** A defect planted on purpose: the catalogue without the evidence rule of these operations. */
function blindTo(isBlind: (operation: string) => boolean): Catalogue {
  return new Map(
    [...createCatalogue()].map(([name, operation]): [string, Operation] => [
      name,
      {
        ...operation,
        parse: (json) => blinded(operation.parse(json), isBlind(name)),
      },
    ]),
  );
}

function blinded(parsed: Parsed, isBlind: boolean): Parsed {
  if (!parsed.ok || !isBlind) return parsed;
  return { ok: true, request: { ...parsed.request, evidence: { kind: "none" } } };
}

/**
 * A fault after which nothing but evidence can tell that it was done: no repeat, and the state before is
 * known.
 */
function tellingFault(row: DecidabilityRow): FaultName | null {
  const isTelling = (fault: FaultName) => row.allowed[fault].join() === "probably_succeeded";
  return (["taken-then-failing", "delay-taken-late"] as const).find(isTelling) ?? null;
}

describe("without evidence the table does not hold", () => {
  test.each(["delay-taken", "cut-after"] as const)("of any, after %s", async (fault) => {
    const trials = await tryAll(commandTable, fault, { catalogue: blindTo(() => true) });
    const broken = new Set(trials.filter((trial) => violations(trial).length > 0).map(({ name }) => name));
    // Every row whose effect only evidence can show; those that are repeated may still be told by the
    // repeat.
    const shown = trials.filter(
      ({ row }) => !row.isRepeatable && row.allowed[fault].join() === "probably_succeeded",
    );
    expect(shown.length).toBeGreaterThan(8);
    for (const { name } of shown) expect(broken).toContain(name);
  });

  test("every operation that has an evidence rule has a fault after which only that can tell", () => {
    const ruled = new Set(commandTable.filter((row) => tellingFault(row) !== null).map(nameOf));
    expect([...ruled].sort()).toEqual([
      "AddTaskChain",
      "AppendMission",
      "CancelTaskChain",
      "ChargeRobot",
      "ControlConveyor STOP",
      "CreateMission",
      "CreateMissionWorkflow",
      "CreateWebhook",
      "FinishTaskChain",
      "ReassignTaskByAmrId",
      "ReassignTaskByTaskChainId",
      "UpdateMission CANCEL",
      "UpdateMission FINISH",
      "UpdateMission PAUSE",
      "UpdateMission RESUME",
    ]);
  });

  test.each(
    commandTable.filter((row) => tellingFault(row) !== null).map((row) => [nameOf(row), row] as const),
  )("of %s alone", async (_name, row) => {
    const fault = tellingFault(row) ?? "delay-taken";
    const trials = await tryAll([row], fault, { catalogue: blindTo((name) => name === row.operation) });
    expect(trials.flatMap(violations)).toEqual([
      expect.stringMatching(/was told unknown .*, allowed is probably_succeeded$/),
    ]);
  });
});
