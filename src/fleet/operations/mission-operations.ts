import type { Destination, EvidenceRule, Subject } from "../../contracts/operation.ts";
import type { Goal, MissionStateName, MissionType } from "../../domain/mission.ts";
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
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import { goalsOfMission, goalsOfWorkflow, typesOfMission, typesOfWorkflow } from "./mission-signature.ts";
import {
  type Evaluation,
  never,
  noEvidence,
  type OperationRow,
  operation,
  reading,
  repeatable,
  repeatableLate,
} from "./row.ts";

const byRobot = { robotId: "cart-01" };
const traverse = { goals: [{ destinationId: "Station A" }, { destinationId: "Station B" }] };
const { method } = FleetService;

/** The operations that name a robot by its robot_id: missions and carts. */
export const missionOperations: readonly OperationRow[] = [
  operation(method.createMission, {
    role: "operator",
    summary: "Gives a mission to a robot that has none running.",
    german: { name: "Mission beginnen", summary: "Gibt einem Roboter eine Mission, wenn keine läuft." },
    required: ["robot_id", "mission"],
    examples: {
      "go to a destination": { ...byRobot, mission: navigateTo("Station A") },
      "traverse destinations (cart)": { ...byRobot, mission: { cartMission: { traverseMission: traverse } } },
    },
    evaluate: ({ robotId, mission }) =>
      starting(robotId, ofMission(mission), destinationOf(mission && goalsOfMission(mission))),
  }),
  operation(method.appendMission, {
    role: "operator",
    summary: "Gives a robot a mission behind the ones that it has.",
    german: {
      name: "Mission anhängen",
      summary: "Gibt einem Roboter eine weitere Mission, hinter denen, die er hat.",
    },
    required: ["robot_id", "mission"],
    examples: { "go to a destination afterwards": { ...byRobot, mission: navigateTo("Station A") } },
    evaluate: ({ robotId, mission }) =>
      starting(robotId, ofMission(mission), destinationOf(mission && goalsOfMission(mission))),
  }),
  operation(method.createMissionWorkflow, {
    role: "operator",
    summary:
      "Gives a ready-made series of missions, the way home included, to a robot that has none running.",
    german: {
      name: "Workflow beginnen",
      summary:
        "Gibt einem Roboter, der keine Mission fährt, eine fertige Folge von Missionen, den Heimweg eingeschlossen.",
    },
    required: ["robot_id", "mission_workflow"],
    examples: {
      "traverse destinations (cart)": { ...byRobot, missionWorkflow: { cartWorkflow: { traverse } } },
    },
    evaluate: ({ robotId, missionWorkflow: workflow }) =>
      starting(robotId, ofWorkflow(workflow), destinationOf(workflow && goalsOfWorkflow(workflow))),
  }),
  operation(method.chargeRobot, {
    role: "operator",
    summary: "Sends a robot to charge, whatever its battery says.",
    german: {
      name: "Roboter laden",
      summary: "Schickt einen Roboter zum Laden, wie voll seine Batterie auch ist.",
    },
    required: ["robot_id"],
    examples: { charge: { robotId: "serve-01" } },
    // The type and the feedback of a charge mission are unset (docs/internals/service.md, TRN-39).
    evaluate: ({ robotId }) => starting(robotId, newMission([{ family: "none" }], null)),
  }),
  operation(method.skipGoal, {
    role: "operator",
    summary: "Skips the current goal of a robot's mission.",
    german: {
      name: "Ziel überspringen",
      summary: "Überspringt das aktuelle Ziel der Mission eines Roboters.",
    },
    required: ["robot_id"],
    examples: { skip: byRobot },
    evaluate: ({ robotId }) => starting(robotId, noEvidence, { kind: "next_goal", missionId: "" }),
  }),
  operation(method.updateMission, {
    role: "operator",
    summary: "Cancels, pauses, resumes or finishes a mission.",
    german: {
      name: "Mission ändern",
      summary: "Bricht eine Mission ab, hält sie an, setzt sie fort oder beendet sie.",
    },
    required: ["robot_id", "mission_command"],
    examples: Object.fromEntries(
      ["COMMAND_CANCEL", "COMMAND_PAUSE", "COMMAND_RESUME", "COMMAND_FINISH"].map((command) => [
        command,
        { ...byRobot, missionCommand: { missionId: "m-1", command } },
      ]),
    ),
    evaluate: ({ robotId, missionCommand }) => updating(robot(robotId), missionCommand),
  }),
  operation(method.controlConveyor, {
    role: "operator",
    summary: "Starts or stops conveyors of a cart.",
    german: {
      name: "Förderbänder steuern",
      summary: "Startet Förderbänder eines Roboters oder hält sie an.",
    },
    required: ["robot_id", "commands"],
    examples: { stop: motor("STOP"), "roll clockwise": motor("CW"), "roll counter-clockwise": motor("CCW") },
    evaluate: ({ robotId, commands }) => conveying(robot(robotId), commands),
  }),
  operation(method.getConveyorIndex, {
    role: "observer",
    summary: "Reads which conveyors a cart has.",
    german: { name: "Förderbänder lesen", summary: "Liest, welche Förderbänder ein Roboter hat." },
    required: ["robot_id"],
    examples: { read: byRobot },
    evaluate: ({ robotId }) => reading(robot(robotId)),
  }),
];

function navigateTo(destinationId: string) {
  return { baseMission: { navigateMission: { goal: { destinationId } } } };
}

function motor(word: "STOP" | "CW" | "CCW") {
  return { ...byRobot, commands: [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${word}` }] };
}

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
