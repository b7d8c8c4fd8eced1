import type { Role } from "../../src/domain/command.ts";

/** What docs/internals/service.md and docs/commands.md say of one operation. */
interface OperationFacts {
  readonly role: Role;
  /** Verb and path over HTTPS. */
  readonly route: string;
  /** The fields of its answer that are always there; behind `?`, those that are there when they are set. */
  readonly answer: string;
  /** It changes nothing. */
  readonly reads?: true;
  /** The service answers it without a robot. */
  readonly robotless?: true;
}

/**
 * Every operation, written down a second time: the code has them from proto/ and from its own rows, and a
 * mistake there must not be its own proof.
 */
export const operations: ReadonlyMap<string, OperationFacts> = new Map(
  Object.entries<OperationFacts>({
    CreateMission: { role: "operator", route: "POST /v1/mission/create", answer: "missionId" },
    AppendMission: { role: "operator", route: "POST /v1/mission/append", answer: "missionId" },
    UpdateMission: { role: "operator", route: "POST /v1/mission/update", answer: "" },
    CreateMissionWorkflow: {
      role: "operator",
      route: "POST /v1/mission-workflow/create",
      answer: "missionIds",
    },
    SkipGoal: { role: "operator", route: "POST /v1/goal/skip", answer: "missionId" },
    ChargeRobot: { role: "operator", route: "POST /v1/robot/charge", answer: "missionId" },
    GetConveyorIndex: {
      role: "observer",
      route: "POST /v1/conveyor-index/get",
      answer: "indexes",
      reads: true,
    },
    ControlConveyor: { role: "operator", route: "POST /v1/conveyor/control", answer: "" },
    CreateWebhook: {
      role: "engineer",
      route: "POST /v1/webhook/create",
      answer: "? webhook",
      robotless: true,
    },
    ListWebhooks: {
      role: "engineer",
      route: "POST /v1/webhook/list",
      answer: "webhooks",
      reads: true,
      robotless: true,
    },
    DeleteWebhook: { role: "engineer", route: "POST /v1/webhook/delete", answer: "", robotless: true },
    AddTaskChain: { role: "operator", route: "POST /task/add", answer: "taskChainId", robotless: true },
    ReassignTaskByAmrId: { role: "operator", route: "PUT /taskChain/reassignByAmrId/{amr_id}", answer: "" },
    ReassignTaskByTaskChainId: {
      role: "operator",
      route: "PUT /taskChain/reassignByTaskChainId/{task_chain_id}",
      answer: "",
    },
    FinishTaskChain: {
      role: "operator",
      route: "GET /taskChain/endFinishPauseIsFalseTask/{task_chain_id}",
      answer: "",
    },
    QueryTaskChain: {
      role: "observer",
      route: "GET /task/getTaskChainByIds",
      answer: "taskChains",
      reads: true,
      robotless: true,
    },
    CancelTaskChain: { role: "operator", route: "POST /task/cancel/{task_chain_id}", answer: "" },
    GetOnlineRobots: {
      role: "observer",
      route: "GET /amr/onlineAmr",
      answer: "robots",
      reads: true,
      robotless: true,
    },
    PauseRobot: { role: "operator", route: "POST /amr/taskCommand/pause/{amr_id}", answer: "" },
    ResumeRobot: { role: "operator", route: "POST /amr/taskCommand/resume/{amr_id}", answer: "" },
    GetMap: {
      role: "observer",
      route: "GET /map/getMapVertexes/{map_id}",
      answer: "vertexes",
      reads: true,
      robotless: true,
    },
  }),
);

/** Those that change nothing. */
export const readNames: readonly string[] = [...operations].flatMap(([name, { reads }]) =>
  reads === true ? [name] : [],
);
