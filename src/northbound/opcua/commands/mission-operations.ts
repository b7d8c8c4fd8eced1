import type { Family } from "../../../domain/robot.ts";
import type { Json } from "../../../platform/json.ts";
import type { SlotCommand } from "./slot-command.ts";
import {
  type Argument,
  familyProblem,
  type Meaning,
  type MissionParameters,
  type MissionRobot,
  type SlotOperation,
} from "./slot-operation.ts";

/** The goals of a mission. */
export interface Goals {
  /** In proto3 JSON. */
  readonly list: readonly Json[];
  /** In words. */
  readonly texts: readonly string[];
}

interface Problem {
  readonly problem: string;
}

const MILLI = 1_000;

/** The goals that the parameters name. */
function goalsOf(
  argument: Argument,
  parameters: MissionParameters,
  named: ReadonlyMap<number, string>,
): Goals | Problem {
  if (argument === "pose") return poseGoal(parameters.pose);
  const names = destinationsOf(argument === "goal", parameters, named);
  if ("problem" in names) return names;
  return { list: names.list.map((destinationId): Json => ({ destinationId })), texts: names.list };
}

function poseGoal(pose: readonly number[] | null): Goals | Problem {
  if (pose === null) return { problem: "Pose is missing: x and y in mm, heading in mrad" };
  const [xMeters = 0, yMeters = 0, headingRadians = 0] = pose.map((value) => value / MILLI);
  return {
    list: [{ pose: { xMeters, yMeters, headingRadians } }],
    texts: [`pose ${xMeters} ${yMeters} ${headingRadians}`],
  };
}

/** Destinations by name. */
type Destinations = { readonly list: readonly string[] } | Problem;

function destinationsOf(
  isOne: boolean,
  parameters: MissionParameters,
  named: ReadonlyMap<number, string>,
): Destinations {
  const { destination, destinationNos, destinations } = parameters;
  const used = destinations.slice(0, destinations.findLastIndex((name) => name !== "") + 1);
  const given = [
    ...(destination === "" ? [] : ["Destination"]),
    ...(destinationNos.length === 0 ? [] : ["DestinationNo"]),
    ...(used.length === 0 ? [] : ["Destinations"]),
  ];
  if (given.length > 1) {
    return { problem: `${given.join(" and ")} are both set: empty all but the one that is meant` };
  }
  if (destinationNos.length > 0) return numberedDestinations(destinationNos, named);
  if (destination !== "") return { list: [destination] };
  if (isOne || used.length === 0) {
    const other = isOne ? "" : ", and Destinations";
    return { problem: `Destination is missing, and DestinationNo${other} too: one of them says where to` };
  }
  const gap = used.indexOf("");
  if (gap !== -1) return { problem: `Destinations[${gap}] is empty, and a later one is not` };
  return { list: used };
}

function numberedDestinations(numbers: readonly number[], named: ReadonlyMap<number, string>): Destinations {
  const list: string[] = [];
  for (const number of numbers) {
    const destinationId = named.get(number);
    if (destinationId === undefined) return { problem: `opcua.destinations has no number ${number}` };
    list.push(destinationId);
  }
  return { list };
}

/** Added to the number of a mission to append it. */
const APPEND = 20;
/** Added to the number of a mission that only one family has: the workflow of the same name. */
const WORKFLOW = 60;

/** A mission or a workflow; what it means is without its family. */
type Row = readonly [
  number: number,
  name: string,
  field: string,
  text: string,
  argument: "goal" | "goals" | "pose",
  family: SlotOperation["family"],
  meaning: Meaning,
];

const missions: readonly Row[] = [
  [1, "Navigate", "navigate", "navigate to", "goal", null, ["navigate", "fahren"]],
  [
    2,
    "NavigateToFirstFree",
    "navigateAuto",
    "navigate to the first free of",
    "goals",
    null,
    ["navigate to the first free", "zum ersten freien Ziel fahren"],
  ],
  [3, "Traverse", "traverse", "traverse", "goals", "cart", ["traverse", "Ziele abfahren"]],
  [
    4,
    "TraversePatrol",
    "traversePatrol",
    "patrol",
    "goals",
    "cart",
    ["traverse patrol", "Ziele im Kreis abfahren"],
  ],
  [5, "Deliver", "delivery", "deliver to", "goals", "serve", ["delivery", "ausliefern"]],
  [
    6,
    "DeliveryPatrol",
    "deliveryPatrol",
    "patrol for delivery",
    "goals",
    "serve",
    ["delivery patrol", "im Kreis ausliefern"],
  ],
  [7, "Bus", "bussing", "bus to", "goals", "serve", ["bussing", "abräumen"]],
  [
    8,
    "BussingPatrol",
    "bussingPatrol",
    "patrol for bussing",
    "goals",
    "serve",
    ["bussing patrol", "im Kreis abräumen"],
  ],
  [
    70,
    "NavigateToPose",
    "navigate",
    "navigate to",
    "pose",
    null,
    ["navigate to a pose", "zu einer Pose fahren"],
  ],
];

const workflows: readonly Row[] = [
  [60, "Birthday", "birthday", "birthday at", "goal", "serve", ["birthday", "Geburtstag"]],
  [61, "Hosting", "hosting", "host at", "goals", "serve", ["hosting", "Bewirtung"]],
  [
    62,
    "HostingPatrol",
    "hostingPatrol",
    "patrol for hosting",
    "goals",
    "serve",
    ["hosting patrol", "Bewirtung im Kreis"],
  ],
  ...missions.filter((row) => row[5] !== null).map(([number, ...row]): Row => [number + WORKFLOW, ...row]),
];

/** The operations that send a robot somewhere. */
export const missionOperations: readonly SlotOperation[] = [
  ...missions.map((row) => missionOperation(row, false)),
  ...missions.map((row) => missionOperation(row, true)),
  ...workflows.map(workflowOperation),
  starting(30, "Charge", ["charge", "laden"], "ChargeRobot"),
  starting(31, "SkipCurrentGoal", ["skip the current goal", "das aktuelle Ziel überspringen"], "SkipGoal"),
];

function missionOperation(row: Row, isAppended: boolean): SlotOperation {
  const [ownNumber, ownName, field, ownText, argument, family, meaning] = row;
  const [en, de] = ofFamily(meaning, family);
  const number = isAppended ? ownNumber + APPEND : ownNumber;
  const text = isAppended ? `then ${ownText}` : ownText;
  const operation = isAppended ? "AppendMission" : "CreateMission";
  return {
    number,
    operation,
    name: isAppended ? `Then${ownName}` : ownName,
    meaning: isAppended
      ? [`${en}, behind the missions that are there`, `${de}, hinter den vorhandenen Missionen`]
      : [en, de],
    argument,
    family,
    isStop: false,
    command: goingCommand({ number, text, argument, family }, (robot, fields) => ({
      operation,
      json: { mission: { [wrapperOf(family, robot.family)]: { [`${field}Mission`]: fields } } },
    })),
  };
}

function workflowOperation([number, _name, field, ownText, argument, family, [en, de]]: Row): SlotOperation {
  const text = `workflow: ${ownText}`;
  const operation = "CreateMissionWorkflow";
  return {
    number,
    name: `${capital(field)}Workflow`,
    // A verb alone is a noun in German.
    meaning: ofFamily([`workflow ${en}`, `Workflow ${de.includes(" ") ? de : capital(de)}`], family),
    operation,
    argument,
    family,
    isStop: false,
    command: goingCommand({ number, text, argument, family }, (_robot, fields) => ({
      operation,
      json: { missionWorkflow: { [`${family}Workflow`]: { [field]: fields } } },
    })),
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ofFamily([en, de]: Meaning, family: SlotOperation["family"]): Meaning {
  if (family === null) return [en, de];
  return [`${en} (${family})`, `${de} (${family === "cart" ? "Cart" : "Serve"})`];
}

type MakeRequest = (
  robot: MissionRobot,
  fields: Json,
) => { readonly operation: string; readonly json: Readonly<Record<string, Json>> };

function goingCommand(
  row: Pick<SlotOperation, "number" | "argument" | "family"> & { readonly text: string },
  make: MakeRequest,
): SlotOperation["command"] {
  return (parameters, robot, named): SlotCommand => {
    const goals = familyProblem(row, robot) ?? goalsOf(row.argument, parameters, named);
    if ("problem" in goals) return goals;
    const fields = isOne(row.argument) ? { goal: goals.list[0] ?? null } : { goals: goals.list };
    const { operation, json } = make(robot, fields);
    return {
      text: `${row.text} ${goals.texts.join(", ")}`,
      operation,
      request: { robotId: robot.robotId, ...json },
      missionId: null,
    };
  };
}

function isOne(argument: Argument): boolean {
  return argument === "goal" || argument === "pose";
}

/** Each family has a wrapper of its own; base missions are for all, also for a robot of unknown family. */
function wrapperOf(ofMission: SlotOperation["family"], ofRobot: Family): string {
  const named = ofMission ?? ofRobot;
  return named === "unknown" ? "baseMission" : `${named}Mission`;
}

function starting(number: number, name: string, meaning: Meaning, operation: string): SlotOperation {
  const [text] = meaning;
  const command = (_parameters: MissionParameters, { robotId }: MissionRobot): SlotCommand => ({
    text,
    operation,
    request: { robotId },
    missionId: null,
  });
  return { number, name, meaning, operation, argument: "nothing", family: null, isStop: false, command };
}
