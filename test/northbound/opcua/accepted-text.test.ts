import { expect, it } from "vitest";
import { conveyorRequest } from "../../../src/northbound/opcua/commands/conveyor-slot.ts";
import type { Draft } from "../../../src/northbound/opcua/commands/draft.ts";
import {
  type MissionParameters,
  missionOfFields,
  missionRequest,
} from "../../../src/northbound/opcua/commands/mission-request.ts";

const cart = { robotId: "r1", family: "cart", currentMissionId: "m-5", pauseNow: () => null } as const;
const serve = { ...cart, family: "serve" } as const;
const text = (draft: Draft) => ("text" in draft ? draft.text : draft.problem);

function mission(fields: string[], robot: typeof cart | typeof serve = cart): string {
  const read = missionOfFields(fields);
  if ("problem" in read) return read.problem;
  const parameters: MissionParameters = read;
  return text(missionRequest(parameters, robot, new Map()));
}

it.each([
  [["1", "A"], "navigate to A"],
  [["2", "A", "B"], "navigate to the first free of A, B"],
  [["3", "A", "B"], "traverse A, B"],
  [["4", "A", "B"], "patrol A, B"],
  [["21", "A"], "then navigate to A"],
  [["10"], "cancel mission m-5"],
  [["11", "m-7"], "pause mission m-7"],
  [["12"], "resume mission m-5"],
  [["13"], "finish mission m-5"],
  [["30"], "charge"],
  [["31"], "skip the current goal"],
])("says in words what %j asks of a cart", (fields, words) => {
  expect(mission(fields)).toBe(words);
});

it.each([
  [["5", "A"], "deliver to A"],
  [["6", "A"], "patrol for delivery A"],
  [["7", "A"], "bus to A"],
  [["8", "A"], "patrol for bussing A"],
])("says in words what %j asks of a serve robot", (fields, words) => {
  expect(mission(fields, serve)).toBe(words);
});

it.each([
  [1, "conveyor 0: stop"],
  [2, "conveyor 0: turn clockwise"],
  [3, "conveyor 0: turn counter-clockwise"],
])("says in words what motor command %i asks", (motor, words) => {
  expect(text(conveyorRequest("r1", 0, motor))).toBe(words);
});
