import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FG_COMMAND, FG_LOAD_STATION } from "../../../src/cli/export/block-files.ts";
import { readFunctionBlock } from "../../../src/cli/export/function-block.ts";
import { structuredTextOf } from "../../support/structured-text/markdown-blocks.ts";
import { parseStructuredText } from "../../support/structured-text/parser.ts";
import { createPlc } from "../../support/structured-text/plc.ts";

const page = readFileSync("docs/load-station.md", "utf8");
const section = page.split("\n## ").find((text) => text.startsWith("In an afternoon")) ?? "";
const block = readFunctionBlock(FG_LOAD_STATION);
const declared = (kind: string) =>
  block.sections.filter((one) => one.kind === kind).flatMap(({ declarations }) => declarations);

/** The rows of the table whose first column has this heading. */
function rows(heading: string): readonly (readonly string[])[] {
  const lines = section.split("\n");
  const from = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  expect(from, heading).toBeGreaterThan(0);
  const rest = lines.slice(from + 2);
  const end = rest.findIndex((line) => !line.startsWith("|"));
  return rest.slice(0, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
const inCode = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);

test("the page names every input and every output of the block, and times with their first values", () => {
  const times = declared("VAR_INPUT").filter(({ type }) => type === "TIME");
  const inputs = declared("VAR_INPUT").filter((one) => !times.includes(one));
  expect(rows("input").flatMap(([first = ""]) => inCode(first))).toEqual(
    expect.arrayContaining(inputs.map(({ name }) => name)),
  );
  expect(
    rows("output")
      .flatMap(([first = ""]) => inCode(first))
      .sort(),
  ).toEqual(
    declared("VAR_OUTPUT")
      .map(({ name }) => name)
      .sort(),
  );
  for (const { name, initial } of times) {
    const told = `${name}\` (${initial?.replace("T#", "").replace("s", " s")})`;
    expect(section).toContain(told);
  }
});

test("the page has a row for every step of the block and for every code", () => {
  const steps = [...block.body.matchAll(/^ {8}(\d+): +\(\*/gm)].map(([, number]) => Number(number));
  expect(rows("`StepNo`").map(([number]) => Number(number))).toEqual(steps);
  const codes = [...block.body.matchAll(/(?:reason|\bErrorID) := (\d+)/g)].map(([, number]) =>
    Number(number),
  );
  // Of a command: 7 and its result 2 to 4.
  expect(block.body).toContain("reason := 7 + result");
  const all = new Set([...codes, 9, 10, 11].filter((code) => code > 0));
  expect(rows("`ErrorID`").map(([number]) => Number(number))).toEqual([...all].sort((a, b) => a - b));
});

test("the program of the page runs with the block", () => {
  const program = parseStructuredText(FG_COMMAND, FG_LOAD_STATION, ...structuredTextOf(section));
  const bools = [
    ...["Connected", "Leased", "Valid", "RobotHere", "Permitted", "StationOn", "LoadWanted", "UnloadWanted"],
    ...["ResetButton", "DriveReady", "RobotSensor", "PhotoEye", "DriveTurns", "GuardClosed"],
    ...["Permit", "DriveOn", "DriveInward", "CallPerson"],
  ];
  const externals = {
    ...Object.fromEntries(bools.map((name) => [name, "BOOL"])),
    Answer: "ARRAY[0..19] OF DINT",
    RobotHereNo: "DINT",
    Loaded: "ARRAY[0..7] OF BOOL",
    Rolling: "ARRAY[0..7] OF BOOL",
    Command: "ARRAY[0..11] OF DINT",
    Heartbeat: "DINT",
  };
  let nowMs = 0;
  const plc = createPlc(program, { externals, nowMs: () => nowMs, run: "LoadDock" });
  plc.set("StationOn", true);
  for (; nowMs < 2_000; nowMs += 100) plc.cycle();
  expect(plc.get("Permit")).toBe(true);
  expect(plc.get("DriveOn")).toBe(false);
  // It changes at least three times in the shortest heartbeat that can be configured.
  expect(Number(plc.get("Heartbeat"))).toBeGreaterThanOrEqual(4);
});
