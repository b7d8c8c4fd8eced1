import type { EvidenceRule, Heading, Subject } from "../../contracts/operation.ts";
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
  fleetSubject,
  type Judgement,
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
      return { ...moving(subject, chainWithReference(taskSeq), headingOf(tasks)), identityField };
    }),
  ],
  [
    "ReassignTaskByAmrId",
    rule(ReassignTaskByAmrIdRequestSchema, "operator", ["amr_id"], (request) => {
      const { amrId, reassignTasks } = request;
      return moving(robotNumber(amrId), tasksReassigned({ amrId }, request), headingOf(reassignTasks));
    }),
  ],
  [
    "ReassignTaskByTaskChainId",
    rule(ReassignTaskByTaskChainIdRequestSchema, "operator", ["task_chain_id"], (request) => {
      const { taskChainId: chainId, reassignTasks } = request;
      return moving(chain(chainId), tasksReassigned({ chainId }, request), headingOf(reassignTasks));
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

function moving(subject: Subject, evidence: EvidenceRule, heading?: Heading): Judgement {
  const judgement: Judgement = { effect: "moves", subject, repeat: never, evidence };
  return heading === undefined ? judgement : { ...judgement, heading };
}

function headingOf(tasks: readonly Task[]): Heading {
  return { kind: "goals", names: tasks.map(({ endPointCode }) => endPointCode) };
}
