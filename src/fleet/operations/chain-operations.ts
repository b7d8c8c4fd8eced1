import type { Destination, EvidenceRule, Subject } from "../../contracts/operation.ts";
import { type Task, TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import {
  chainCanceled,
  chainWithReference,
  robotOfChain,
  taskConfirmed,
  tasksReassigned,
} from "./chain-evidence.ts";
import {
  type Evaluation,
  fleetSubject,
  never,
  noEvidence,
  type OperationRow,
  operation,
  reading,
  repeatable,
} from "./row.ts";

const { method } = TaskService;
const taskExamples = [{ taskType: "TASK_TYPE_LOAD", mapId: 1, endPointCode: "ST-A" }];

/** The operations that travel over HTTP: task chains, robots and maps. */
export const chainOperations: readonly OperationRow[] = [
  operation(method.addTaskChain, {
    role: "operator",
    summary: "Gives tasks to a robot by its number, or (number 0) to one that the service picks.",
    german: {
      name: "Aufgabenkette beginnen",
      summary:
        "Gibt einem Roboter, nach seiner Nummer, Aufträge; mit Nummer 0 einem, den der Dienst auswählt.",
    },
    required: ["task_chain", "tasks"],
    examples: {
      "tasks for robot 101": { taskChain: { areaId: 1, amrId: 101 }, tasks: taskExamples },
      "tasks for any robot": { taskChain: { areaId: 1 }, tasks: taskExamples },
    },
    evaluate({ taskChain, tasks }) {
      const { amrId = 0, groupId = 0, taskSeq = "" } = taskChain ?? {};
      // Number 0, and a number with a group: the service picks the robot (docs/internals/service.md, TRN-47).
      const subject = amrId === 0 || groupId !== 0 ? fleetSubject : robotNumber(amrId);
      const identityField = ["taskChain", "taskSeq"];
      return { ...moving(subject, chainWithReference(taskSeq), destinationOf(tasks)), identityField };
    },
  }),
  operation(method.reassignTaskByAmrId, {
    role: "operator",
    summary:
      "Puts other tasks in place of those that a robot has yet to do, from `sequence` on (the first task is 1).",
    german: {
      name: "Aufgaben eines Roboters ersetzen",
      summary: "Ersetzt die Aufträge, die ein Roboter noch vor sich hat, ab `sequence` (der erste ist 1).",
    },
    required: ["amr_id"],
    examples: { "from the second task on": { amrId: 101, sequence: 2, reassignTasks: taskExamples } },
    evaluate(request) {
      const { amrId, reassignTasks } = request;
      return moving(robotNumber(amrId), tasksReassigned({ amrId }, request), destinationOf(reassignTasks));
    },
  }),
  operation(method.reassignTaskByTaskChainId, {
    role: "operator",
    summary:
      "Puts other tasks in place of those that a chain has yet to do, from `sequence` on (the first task is 1).",
    german: {
      name: "Aufgaben einer Kette ersetzen",
      summary: "Ersetzt die Aufträge einer Kette, die noch zu tun sind, ab `sequence` (der erste ist 1).",
    },
    required: ["task_chain_id"],
    examples: { "from the second task on": { taskChainId: 7, sequence: 2, reassignTasks: taskExamples } },
    evaluate(request) {
      const { taskChainId: chainId, reassignTasks } = request;
      return moving(chain(chainId), tasksReassigned({ chainId }, request), destinationOf(reassignTasks));
    },
  }),
  operation(method.finishTaskChain, {
    role: "operator",
    summary: "Confirms the task at which a chain waits for a confirmation.",
    german: {
      name: "Aufgabe bestätigen",
      summary: "Bestätigt den Auftrag, an dem eine Kette auf die Bestätigung wartet.",
    },
    required: ["task_chain_id"],
    examples: { confirm: { taskChainId: 7 } },
    // Never repeated: a second one would confirm the next task.
    evaluate: ({ taskChainId }) => moving(chain(taskChainId), taskConfirmed(taskChainId)),
  }),
  operation(method.cancelTaskChain, {
    role: "operator",
    summary: "Ends a chain; with `force`, in the middle of a task too.",
    german: {
      name: "Aufgabenkette abbrechen",
      summary: "Beendet eine Kette; mit `force` auch mitten in einem Auftrag.",
    },
    required: ["task_chain_id"],
    examples: { cancel: { taskChainId: 7, force: true } },
    evaluate: ({ taskChainId }) => ({
      effect: "stops",
      subject: chain(taskChainId),
      repeat: never,
      evidence: chainCanceled(taskChainId),
    }),
  }),
  operation(method.queryTaskChain, {
    role: "observer",
    summary: "Reads chains and how far they are.",
    german: { name: "Aufgabenketten lesen", summary: "Liest Ketten und wie weit sie sind." },
    required: ["task_chain_ids"],
    examples: { read: { taskChainIds: [7, 8] } },
    evaluate: () => reading(),
  }),
  operation(method.getOnlineRobots, {
    role: "observer",
    summary: "Reads which robots are online, and where.",
    german: {
      name: "Roboter lesen, die online sind",
      summary: "Liest, welche Roboter online sind, und wo.",
    },
    examples: { read: {} },
    evaluate: () => reading(),
  }),
  operation(method.pauseRobot, {
    role: "operator",
    summary: "Pauses a robot; with `stopNow`, at once.",
    german: { name: "Roboter pausieren", summary: "Hält einen Roboter an; mit `stopNow` sofort." },
    required: ["amr_id"],
    examples: { pause: { amrId: 101, stopNow: true } },
    evaluate: ({ amrId }) => ({
      effect: "stops",
      subject: robotNumber(amrId),
      repeat: repeatable(),
      evidence: noEvidence,
      switches: ["robot"],
    }),
  }),
  operation(method.resumeRobot, {
    role: "operator",
    summary: "Lets a paused robot go on.",
    german: { name: "Roboter fortsetzen", summary: "Lässt einen angehaltenen Roboter weiterfahren." },
    required: ["amr_id"],
    examples: { "go on": { amrId: 101 } },
    evaluate: ({ amrId }) => ({
      ...moving(robotNumber(amrId), noEvidence, { kind: "mission", missionId: "" }),
      switches: ["robot"],
    }),
  }),
  operation(method.getMap, {
    role: "observer",
    summary: "Reads the points of a map.",
    german: { name: "Karte lesen", summary: "Liest die Punkte einer Karte." },
    required: ["map_id"],
    examples: { read: { mapId: 1 } },
    evaluate: () => reading(),
  }),
];

function robotNumber(amrId: number): Subject {
  return { kind: "robot_number", amrId };
}

function chain(chainId: number): Subject {
  return { kind: "task_chain", chainId, find: robotOfChain(chainId) };
}

function moving(subject: Subject, evidence: EvidenceRule, destination?: Destination): Evaluation {
  const evaluation: Evaluation = { effect: "moves", subject, repeat: never, evidence };
  return destination === undefined ? evaluation : { ...evaluation, destination };
}

function destinationOf(tasks: readonly Task[]): Destination {
  return { kind: "goals", names: tasks.map(({ endPointCode }) => endPointCode) };
}
