import type { Destination, EvidenceRule, Subject } from "../../contracts/operation.ts";
import {
  AddTaskChainRequestSchema,
  CancelTaskChainRequestSchema,
  FinishTaskChainRequestSchema,
  GetMapRequestSchema,
  GetOnlineRobotsRequestSchema,
  PauseRobotRequestSchema,
  QueryTaskChainRequestSchema,
  ReassignTaskByAmrIdRequestSchema,
  ReassignTaskByTaskChainIdRequestSchema,
  ResumeRobotRequestSchema,
  type Task,
} from "../../wire/fleet/http/v1/task_pb.js";
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
  type Rule,
  reading,
  repeatable,
  rule,
} from "./rule.ts";

/** The operations that travel over HTTP: task chains, robots and maps. */
export const chainRules: ReadonlyMap<string, Rule> = new Map([
  [
    "AddTaskChain",
    rule(AddTaskChainRequestSchema, "operator", ["task_chain", "tasks"], ({ taskChain, tasks }) => {
      const { amrId = 0, groupId = 0, taskSeq = "" } = taskChain ?? {};
      // Number 0, and a number with a group: the service picks the robot (docs/service.md, TRN-47).
      const subject = amrId === 0 || groupId !== 0 ? fleetSubject : robotNumber(amrId);
      const identityField = ["taskChain", "taskSeq"];
      return { ...moving(subject, chainWithReference(taskSeq), destinationOf(tasks)), identityField };
    }),
  ],
  [
    "ReassignTaskByAmrId",
    rule(ReassignTaskByAmrIdRequestSchema, "operator", ["amr_id"], (request) => {
      const { amrId, reassignTasks } = request;
      return moving(robotNumber(amrId), tasksReassigned({ amrId }, request), destinationOf(reassignTasks));
    }),
  ],
  [
    "ReassignTaskByTaskChainId",
    rule(ReassignTaskByTaskChainIdRequestSchema, "operator", ["task_chain_id"], (request) => {
      const { taskChainId: chainId, reassignTasks } = request;
      return moving(chain(chainId), tasksReassigned({ chainId }, request), destinationOf(reassignTasks));
    }),
  ],
  [
    "FinishTaskChain",
    // Never repeated: a second one would confirm the next task.
    rule(FinishTaskChainRequestSchema, "operator", ["task_chain_id"], ({ taskChainId }) =>
      moving(chain(taskChainId), taskConfirmed(taskChainId)),
    ),
  ],
  [
    "CancelTaskChain",
    rule(CancelTaskChainRequestSchema, "operator", ["task_chain_id"], ({ taskChainId }) => ({
      effect: "stops",
      subject: chain(taskChainId),
      repeat: never,
      evidence: chainCanceled(taskChainId),
    })),
  ],
  [
    "QueryTaskChain",
    rule(QueryTaskChainRequestSchema, "observer", ["task_chain_ids"], () => reading(fleetSubject)),
  ],
  ["GetOnlineRobots", rule(GetOnlineRobotsRequestSchema, "observer", [], () => reading(fleetSubject))],
  [
    "PauseRobot",
    rule(PauseRobotRequestSchema, "operator", ["amr_id"], ({ amrId }) => ({
      effect: "stops",
      subject: robotNumber(amrId),
      repeat: repeatable(),
      evidence: noEvidence,
      switches: ["robot"],
    })),
  ],
  [
    "ResumeRobot",
    rule(ResumeRobotRequestSchema, "operator", ["amr_id"], ({ amrId }) => ({
      ...moving(robotNumber(amrId), noEvidence, { kind: "mission", missionId: "" }),
      switches: ["robot"],
    })),
  ],
  ["GetMap", rule(GetMapRequestSchema, "observer", ["map_id"], () => reading(fleetSubject))],
]);

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
