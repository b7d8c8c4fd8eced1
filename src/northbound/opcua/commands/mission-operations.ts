import type { Family } from "../../../domain/robot.ts";
import type { Json } from "../../../platform/json.ts";
import type { Draft } from "./draft.ts";
import { goalsOf } from "./goals.ts";
import {
  type Argument,
  familyProblem,
  type MissionParameters,
  type MissionRobot,
  type SlotOperation,
} from "./slot-operation.ts";

/** Added to the number of a mission to append it. */
const APPEND = 20;

/** A mission or a workflow: number, name, field of the service, text, argument, family. */
type Row = readonly [number, string, string, string, "goal" | "goals" | "pose", SlotOperation["family"]];

const missions: readonly Row[] = [
  [1, "Navigate", "navigateMission", "navigate to", "goal", null],
  [2, "NavigateToFirstFree", "navigateAutoMission", "navigate to the first free of", "goals", null],
  [3, "Traverse", "traverseMission", "traverse", "goals", "cart"],
  [4, "TraversePatrol", "traversePatrolMission", "patrol", "goals", "cart"],
  [5, "Deliver", "deliveryMission", "deliver to", "goals", "serve"],
  [6, "DeliveryPatrol", "deliveryPatrolMission", "patrol for delivery", "goals", "serve"],
  [7, "Bus", "bussingMission", "bus to", "goals", "serve"],
  [8, "BussingPatrol", "bussingPatrolMission", "patrol for bussing", "goals", "serve"],
  [70, "NavigateToPose", "navigateMission", "navigate to", "pose", null],
];

/** 63 to 68 are the workflows of missions 3 to 8. */
const workflows: readonly Row[] = [
  [60, "BirthdayWorkflow", "birthday", "birthday at", "goal", "serve"],
  [61, "HostingWorkflow", "hosting", "host at", "goals", "serve"],
  [62, "HostingPatrolWorkflow", "hostingPatrol", "patrol for hosting", "goals", "serve"],
  [63, "TraverseWorkflow", "traverse", "traverse", "goals", "cart"],
  [64, "TraversePatrolWorkflow", "traversePatrol", "patrol", "goals", "cart"],
  [65, "DeliveryWorkflow", "delivery", "deliver to", "goals", "serve"],
  [66, "DeliveryPatrolWorkflow", "deliveryPatrol", "patrol for delivery", "goals", "serve"],
  [67, "BussingWorkflow", "bussing", "bus to", "goals", "serve"],
  [68, "BussingPatrolWorkflow", "bussingPatrol", "patrol for bussing", "goals", "serve"],
];

/** The operations that send a robot somewhere. */
export const missionOperations: readonly SlotOperation[] = [
  ...missions.map((row) => missionOperation(row, false)),
  ...missions.map((row) => missionOperation(row, true)),
  ...workflows.map(workflowOperation),
  starting(30, "Charge", "charge", "ChargeRobot"),
  starting(31, "SkipCurrentGoal", "skip the current goal", "SkipGoal"),
];

function missionOperation(row: Row, isAppended: boolean): SlotOperation {
  const [ownNumber, ownName, field, ownText, argument, family] = row;
  const number = isAppended ? ownNumber + APPEND : ownNumber;
  const text = isAppended ? `then ${ownText}` : ownText;
  const operation = isAppended ? "AppendMission" : "CreateMission";
  return {
    number,
    operation,
    name: isAppended ? `Then${ownName}` : ownName,
    text,
    argument,
    family,
    isStop: false,
    draft: goingDraft({ number, text, argument, family }, (robot, fields) => ({
      operation,
      json: { mission: { [wrapperOf(family, robot.family)]: { [field]: fields } } },
    })),
  };
}

function workflowOperation([number, name, field, ownText, argument, family]: Row): SlotOperation {
  const text = `workflow: ${ownText}`;
  const operation = "CreateMissionWorkflow";
  return {
    number,
    name,
    operation,
    text,
    argument,
    family,
    isStop: false,
    draft: goingDraft({ number, text, argument, family }, (_robot, fields) => ({
      operation,
      json: { missionWorkflow: { [`${family}Workflow`]: { [field]: fields } } },
    })),
  };
}

type MakeRequest = (
  robot: MissionRobot,
  fields: Json,
) => { readonly operation: string; readonly json: Readonly<Record<string, Json>> };

function goingDraft(
  row: Pick<SlotOperation, "number" | "text" | "argument" | "family">,
  make: MakeRequest,
): SlotOperation["draft"] {
  return (parameters, robot, named): Draft => {
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

function starting(number: number, name: string, text: string, operation: string): SlotOperation {
  const draft = (_parameters: MissionParameters, { robotId }: MissionRobot): Draft => ({
    text,
    operation,
    request: { robotId },
    missionId: null,
  });
  return { number, name, operation, text, argument: "nothing", family: null, isStop: false, draft };
}
