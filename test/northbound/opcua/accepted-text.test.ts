import { expect, it } from "vitest";
import { conveyorRequest } from "../../../src/northbound/opcua/commands/conveyor-slot.ts";
import { missionOfFields, missionRequest } from "../../../src/northbound/opcua/commands/mission-request.ts";
import type { SlotCommand } from "../../../src/northbound/opcua/commands/slot-command.ts";
import type {
  MissionParameters,
  MissionRobot,
} from "../../../src/northbound/opcua/commands/slot-operation.ts";

const cart: MissionRobot = {
  robotId: "r1",
  family: "cart",
  currentMissionId: "m-5",
  amrId: 7,
  taskChain: { chainId: 9, isSeenNow: true },
  pauseNow: () => null,
};
const serve: MissionRobot = { ...cart, family: "serve" };
const text = (command: SlotCommand) => ("text" in command ? command.text : command.problem);

function mission(fields: string[], robot = cart): string {
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
  [["14"], "cancel task chain 9"],
  [["14", "8"], "cancel task chain 8"],
  [["14", "m-7"], "Operation 14 is for a task chain by its number, or for the robot's own"],
  [["15"], "pause the robot now"],
  [["15", "stray"], "pause the robot now"],
  [["16"], "resume the robot"],
  [["17"], "confirm the waiting task of task chain 9"],
  [["17", "9"], "confirm the waiting task of task chain 9"],
  [["17", "8"], "the command names chain 8, and the robot executes chain 9"],
  [["18"], "cancel by force task chain 9"],
  [["19"], "pause the robot at the next waypoint"],
  [["30"], "charge"],
  [["31"], "skip the current goal"],
  [["63", "A", "B"], "workflow: traverse A, B"],
  [["64", "A", "B"], "workflow: patrol A, B"],
  [["65", "A"], "Operation 65 is for serve robots, and this is a cart robot"],
  [["70", "1500", "-20", "3141"], "navigate to pose 1.5 -0.02 3.141"],
  [["70", "1500", "-20"], "Operation 70 needs x and y in mm and heading in mrad, as whole numbers"],
  [["90", "0", "0", "0"], "then navigate to pose 0 0 0"],
])("says in words what %j asks of a cart", (fields, words) => {
  expect(mission(fields)).toBe(words);
});

it.each([
  [["5", "A"], "deliver to A"],
  [["6", "A"], "patrol for delivery A"],
  [["7", "A"], "bus to A"],
  [["8", "A"], "patrol for bussing A"],
  [["60", "A"], "workflow: birthday at A"],
  [["60", "A", "B"], "Operation 60 has at most 1 destinations"],
  [["61", "A", "B"], "workflow: host at A, B"],
  [["62", "A"], "workflow: patrol for hosting A"],
  [["65", "A"], "workflow: deliver to A"],
  [["66", "A"], "workflow: patrol for delivery A"],
  [["67", "A"], "workflow: bus to A"],
  [["68", "A"], "workflow: patrol for bussing A"],
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
