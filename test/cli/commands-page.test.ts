import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { unknownEndings } from "../../src/cli/operation-facts.ts";
import { gatewayErrors, grpcCodeNames } from "../../src/domain/errors.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { MESSAGE_LIMIT_BYTES } from "../../src/northbound/mqtt/message.ts";
import { defaultScenario } from "../../src/simulator/scenario/scenario.ts";

const manual = createCatalogue();
const page = readFileSync("docs/commands.md", "utf8");
const oneLine = (text: string) => text.replace(/\s+/g, " ");

describe("docs/commands.md", () => {
  it("has a section for every operation, and every code in its table", () => {
    for (const name of manual.keys()) expect(page).toContain(`\n### ${name}\n`);
    const codes = [...page.matchAll(/^\| (\d+) \| ([A-Z_]+) \| .+ \|$/gm)].map(([, , name]) => name);
    expect(codes).toEqual([...grpcCodeNames, ...Object.keys(gatewayErrors)]);
  });

  it("has examples of the demo's robots, conveyors and places", () => {
    const { robots, maps } = defaultScenario().world;
    const map = maps.find(({ id }) => id === 1);
    const there = {
      robotId: robots.map(({ id }) => id),
      ids: robots.map(({ id }) => id),
      amrId: robots.map(({ amrId }) => amrId),
      mapId: maps.map(({ id }) => id),
      index: [1],
      endPointCode: map?.vertices.map(({ code }) => code),
      destinationId: map?.vertices.map(({ alias }) => alias),
    };
    const named = [...page.matchAll(/^ {4}(\{.+\})$/gm)].map(([, text = ""]) => JSON.parse(text));
    const wrong: unknown[] = [];
    const look = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        const known: readonly unknown[] | undefined = Reflect.get(there, key);
        if (known !== undefined && ![inner].flat().every((one) => known.includes(one)))
          wrong.push([key, inner]);
        look(inner);
      }
    };
    for (const request of named) look(request);
    expect(named.length).toBeGreaterThan(15);
    expect(wrong).toEqual([]);
  });

  it("carries the promise, and so does the README", () => {
    const [, promise = ""] = /## The promise\n\n([\s\S]*?)\n\n/.exec(page) ?? [];
    expect(promise).toContain("is sent at most once");
    expect(oneLine(readFileSync("README.md", "utf8"))).toContain(oneLine(promise));
  });
});

it("each operation is repeated, sought or neither after an unknown ending, as this list says", () => {
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

it("docs/mqtt.md names how long a message may be", () => {
  expect(readFileSync("docs/mqtt.md", "utf8")).toContain(
    `${MESSAGE_LIMIT_BYTES.toLocaleString("en-US")} bytes`,
  );
});
