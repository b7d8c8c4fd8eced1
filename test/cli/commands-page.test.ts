import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsPage, promise } from "../../src/cli/commands-page.ts";
import { unknownEndings } from "../../src/cli/operation-facts.ts";
import { gatewayErrors, grpcCodeNames } from "../../src/domain/errors.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";

const manual = createCatalogue();
const page = commandsPage(manual);
const oneLine = (text: string) => text.replace(/\s+/g, " ");

describe("docs/commands.md", () => {
  it("is what the catalogue says (else run: npm run build && node scripts/commands-doc.mjs)", () => {
    expect(readFileSync("docs/commands.md", "utf8")).toBe(page);
  });

  it("has a section for every operation, and every code in its table", () => {
    for (const name of manual.keys()) expect(page).toContain(`\n### ${name}\n`);
    const codes = [...page.matchAll(/^\| (\d+) \| ([A-Z_]+) \| .+ \|$/gm)].map(([, , name]) => name);
    expect(codes).toEqual([...grpcCodeNames, ...Object.keys(gatewayErrors)]);
  });

  it("carries the promise, and so does the README", () => {
    expect(oneLine(page)).toContain(promise);
    expect(oneLine(readFileSync("README.md", "utf8"))).toContain(promise);
  });
});

it("what becomes of each operation after an unknown ending is the design's table", () => {
  expect(unknownEndings(manual)).toEqual({
    repeated: [
      "UpdateMission (COMMAND_CANCEL)",
      "UpdateMission (COMMAND_PAUSE)",
      "ControlConveyor (stop)",
      "PauseRobot",
      "DeleteWebhook",
    ],
    sought: [
      "CreateMission",
      "AppendMission",
      "CreateMissionWorkflow",
      "ChargeRobot",
      "UpdateMission (COMMAND_RESUME)",
      "UpdateMission (COMMAND_FINISH)",
      "AddTaskChain",
      "ReassignTaskByAmrId",
      "ReassignTaskByTaskChainId",
      "FinishTaskChain",
      "CancelTaskChain",
      "CreateWebhook",
    ],
    never: [
      "SkipGoal",
      "ControlConveyor (roll clockwise)",
      "ControlConveyor (roll counter-clockwise)",
      "ResumeRobot",
    ],
  });
});
