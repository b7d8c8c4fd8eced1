import type { Destination, EvidenceRule, Subject } from "../../contracts/operation.ts";
import type { Goal } from "../../domain/goal.ts";
import type { MissionStateName, MissionType } from "../../domain/mission.ts";
import {
  type ConveyorMotorCommand,
  ConveyorMotorCommand_CommandConveyorMotor,
} from "../../wire/fleet/v1/cart/cart_pb.js";
import {
  type Mission,
  type MissionCommand,
  MissionCommand_Command,
  type MissionWorkflow,
} from "../../wire/fleet/v1/mission_pb.js";
import {
  AppendMissionRequestSchema,
  ChargeRobotRequestSchema,
  ControlConveyorRequestSchema,
  CreateMissionRequestSchema,
  CreateMissionWorkflowRequestSchema,
  GetConveyorIndexRequestSchema,
  SkipGoalRequestSchema,
  UpdateMissionRequestSchema,
} from "../../wire/fleet/v1/service_pb.js";
import { goalsOfMission, goalsOfWorkflow, typesOfMission, typesOfWorkflow } from "./mission-signature.ts";
import {
  type Evaluation,
  never,
  noEvidence,
  type Rule,
  reading,
  repeatable,
  repeatableLate,
  rule,
} from "./rule.ts";

/** The operations that name a robot by its robot_id: missions and carts. */
export const missionRules: ReadonlyMap<string, Rule> = new Map([
  [
    "CreateMission",
    rule(CreateMissionRequestSchema, "operator", ["robot_id", "mission"], ({ robotId, mission }) =>
      starting(robotId, ofMission(mission), destinationOf(mission && goalsOfMission(mission))),
    ),
  ],
  [
    "AppendMission",
    rule(AppendMissionRequestSchema, "operator", ["robot_id", "mission"], ({ robotId, mission }) =>
      starting(robotId, ofMission(mission), destinationOf(mission && goalsOfMission(mission))),
    ),
  ],
  [
    "CreateMissionWorkflow",
    rule(
      CreateMissionWorkflowRequestSchema,
      "operator",
      ["robot_id", "mission_workflow"],
      ({ robotId, missionWorkflow }) =>
        starting(
          robotId,
          ofWorkflow(missionWorkflow),
          destinationOf(missionWorkflow && goalsOfWorkflow(missionWorkflow)),
        ),
    ),
  ],
  [
    "ChargeRobot",
    // The type and the feedback of a charge mission are unset (docs/service.md, TRN-39).
    rule(ChargeRobotRequestSchema, "operator", ["robot_id"], ({ robotId }) =>
      starting(robotId, newMission([{ family: "none" }], null)),
    ),
  ],
  [
    "SkipGoal",
    rule(SkipGoalRequestSchema, "operator", ["robot_id"], ({ robotId }) =>
      starting(robotId, noEvidence, { kind: "next_goal", missionId: "" }),
    ),
  ],
  [
    "UpdateMission",
    rule(
      UpdateMissionRequestSchema,
      "operator",
      ["robot_id", "mission_command"],
      ({ robotId, missionCommand }) => updating(robot(robotId), missionCommand),
    ),
  ],
  [
    "ControlConveyor",
    rule(ControlConveyorRequestSchema, "operator", ["robot_id", "commands"], ({ robotId, commands }) =>
      conveying(robot(robotId), commands),
    ),
  ],
  [
    "GetConveyorIndex",
    rule(GetConveyorIndexRequestSchema, "observer", ["robot_id"], ({ robotId }) => reading(robot(robotId))),
  ],
]);

function robot(robotId: string): Subject {
  return { kind: "robot", robotId };
}

function starting(robotId: string, evidence: EvidenceRule, destination?: Destination): Evaluation {
  const evaluation: Evaluation = { effect: "moves", subject: robot(robotId), repeat: never, evidence };
  return destination === undefined ? evaluation : { ...evaluation, destination };
}

/** Undefined: the goals are not known by name, because they are given by tray, or only by pose. */
function destinationOf(goals: readonly Goal[] | null | undefined): Destination | undefined {
  const names = (goals ?? []).flatMap((goal) => (goal.kind === "destination" ? [goal.destinationId] : []));
  return names.length === 0 ? undefined : { kind: "goals", names };
}

function ofMission(mission: Mission | undefined): EvidenceRule {
  return mission === undefined ? noEvidence : newMission(typesOfMission(mission), goalsOfMission(mission));
}

function ofWorkflow(workflow: MissionWorkflow | undefined): EvidenceRule {
  return workflow === undefined
    ? noEvidence
    : newMission(typesOfWorkflow(workflow), goalsOfWorkflow(workflow));
}

function newMission(types: readonly MissionType[], goals: readonly Goal[] | null): EvidenceRule {
  return types.length === 0 ? noEvidence : { kind: "new_mission", types, goals };
}

function updating(subject: Subject, command: MissionCommand | undefined): Evaluation {
  const seenAs = (state: MissionStateName): EvidenceRule => ({
    kind: "mission_state",
    missionId: command?.missionId ?? "",
    state,
  });
  const missionId = command?.missionId ?? "";
  const switches = [`mission ${missionId}`];
  const goesOn: Destination = { kind: "mission", missionId };
  switch (command?.command) {
    case MissionCommand_Command.CANCEL:
      // A mission that has ended answers FAILED_PRECONDITION: it no longer needs canceling.
      return {
        effect: "stops",
        subject,
        repeat: repeatableLate("FAILED_PRECONDITION"),
        evidence: seenAs("STATE_CANCELED"),
        switches,
      };
    case MissionCommand_Command.PAUSE:
      // FAILED_PRECONDITION does not tell a paused mission from one that has ended.
      return { effect: "stops", subject, repeat: repeatable(), evidence: seenAs("STATE_PAUSED"), switches };
    case MissionCommand_Command.RESUME:
      return {
        effect: "moves",
        subject,
        repeat: never,
        evidence: seenAs("STATE_RUNNING"),
        switches,
        destination: goesOn,
      };
    case MissionCommand_Command.FINISH:
      return {
        effect: "moves",
        subject,
        repeat: never,
        evidence: seenAs("STATE_SUCCEEDED"),
        switches,
        destination: { kind: "next_mission", missionId },
      };
    default:
      // A command that this version does not know is treated like the most dangerous one.
      return { effect: "moves", subject, repeat: never, evidence: noEvidence, switches, destination: goesOn };
  }
}

function conveying(subject: Subject, commands: readonly ConveyorMotorCommand[]): Evaluation {
  const stops = commands.filter(({ command }) => command === ConveyorMotorCommand_CommandConveyorMotor.STOP);
  const stopped = stops.map(({ index }) => index);
  const started = commands.filter((each) => !stops.includes(each)).map(({ index }) => index);
  const conveyors = { started, stopped };
  const switches = (started.length > 0 ? started : stopped).map((index) => `conveyor ${index}`);
  // ROLLING does not tell clockwise from counter-clockwise, so only a stop leaves evidence.
  if (started.length > 0 || stopped.length === 0) {
    return { effect: "moves", subject, repeat: never, evidence: noEvidence, conveyors, switches };
  }
  const evidence: EvidenceRule = {
    kind: "conveyor_state",
    indexes: stopped,
    operation: "OPERATION_STATE_STOP",
  };
  return { effect: "stops", subject, repeat: repeatableLate(), evidence, conveyors, switches };
}
