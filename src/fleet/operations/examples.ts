import type { RequestExample } from "../../contracts/operation-manual.ts";

/** The documentation of an operation. */
interface About {
  readonly summary: string;
  readonly examples: readonly RequestExample[];
}

const navigate = { baseMission: { navigateMission: { goal: { destinationId: "Station A" } } } };
const traverse = { cartMission: { traverseMission: { goals: goals("Station A", "Station B") } } };
const byRobot = { robotId: "cart-01" };
const tasks = [{ taskType: "TASK_TYPE_LOAD", mapId: 1, endPointCode: "ST-A" }];

/** A sentence and requests to copy for each operation: one request for each kind of effect. */
export const about: ReadonlyMap<string, About> = new Map([
  [
    "CreateMission",
    {
      summary: "Gives a mission to a robot that has none running.",
      examples: [
        { title: "go to a destination", request: { ...byRobot, mission: navigate } },
        { title: "traverse destinations (cart)", request: { ...byRobot, mission: traverse } },
      ],
    },
  ],
  [
    "AppendMission",
    {
      summary: "Gives a robot a mission behind the ones that it has.",
      examples: [one("go to a destination afterwards", { ...byRobot, mission: navigate })],
    },
  ],
  [
    "CreateMissionWorkflow",
    {
      summary:
        "Gives a ready-made series of missions, the way home included, to a robot that has none running.",
      examples: [
        one("traverse destinations (cart)", {
          ...byRobot,
          missionWorkflow: { cartWorkflow: { traverse: { goals: goals("Station A", "Station B") } } },
        }),
      ],
    },
  ],
  [
    "UpdateMission",
    {
      summary: "Cancels, pauses, resumes or finishes a mission.",
      examples: (["CANCEL", "PAUSE", "RESUME", "FINISH"] as const).map((word) =>
        one(`COMMAND_${word}`, {
          ...byRobot,
          missionCommand: { missionId: "m-1", command: `COMMAND_${word}` },
        }),
      ),
    },
  ],
  ["SkipGoal", { summary: "Skips the current goal of a robot's mission.", examples: [one("skip", byRobot)] }],
  [
    "ChargeRobot",
    {
      summary: "Sends a robot to charge, whatever its battery says.",
      examples: [one("charge", { robotId: "serve-01" })],
    },
  ],
  ["GetConveyorIndex", { summary: "Reads which conveyors a cart has.", examples: [one("read", byRobot)] }],
  [
    "ControlConveyor",
    {
      summary: "Starts or stops conveyors of a cart.",
      examples: [
        one("stop", { ...byRobot, commands: [motor(1, "STOP")] }),
        one("roll clockwise", { ...byRobot, commands: [motor(1, "CW")] }),
        one("roll counter-clockwise", { ...byRobot, commands: [motor(1, "CCW")] }),
      ],
    },
  ],
  [
    "CreateWebhook",
    {
      summary: "Lets the service send events of robots to an address.",
      examples: [
        one("missions of two robots", {
          url: "https://receiver.example.com/missions",
          eventType: "mission",
          selector: { robotIds: { ids: ["cart-01", "cart-02"] } },
        }),
      ],
    },
  ],
  ["ListWebhooks", { summary: "Reads the webhooks that there are.", examples: [one("read", {})] }],
  ["DeleteWebhook", { summary: "Removes a webhook.", examples: [one("remove", { id: "w-1" })] }],
  [
    "AddTaskChain",
    {
      summary: "Gives tasks to a robot by its number, or (number 0) to one that the service picks.",
      examples: [
        one("tasks for robot 101", { taskChain: { areaId: 1, amrId: 101 }, tasks }),
        one("tasks for any robot", { taskChain: { areaId: 1 }, tasks }),
      ],
    },
  ],
  [
    "ReassignTaskByAmrId",
    {
      summary:
        "Puts other tasks in place of those that a robot has yet to do, from `sequence` on (the first task is 1).",
      examples: [one("from the second task on", { amrId: 101, sequence: 2, reassignTasks: tasks })],
    },
  ],
  [
    "ReassignTaskByTaskChainId",
    {
      summary:
        "Puts other tasks in place of those that a chain has yet to do, from `sequence` on (the first task is 1).",
      examples: [one("from the second task on", { taskChainId: 7, sequence: 2, reassignTasks: tasks })],
    },
  ],
  [
    "FinishTaskChain",
    {
      summary: "Confirms the task at which a chain waits for a confirmation.",
      examples: [one("confirm", { taskChainId: 7 })],
    },
  ],
  [
    "CancelTaskChain",
    {
      summary: "Ends a chain; with `force`, in the middle of a task too.",
      examples: [one("cancel", { taskChainId: 7, force: true })],
    },
  ],
  [
    "QueryTaskChain",
    { summary: "Reads chains and how far they are.", examples: [one("read", { taskChainIds: [7, 8] })] },
  ],
  ["GetOnlineRobots", { summary: "Reads which robots are online, and where.", examples: [one("read", {})] }],
  [
    "PauseRobot",
    {
      summary: "Pauses a robot; with `stopNow`, at once.",
      examples: [one("pause", { amrId: 101, stopNow: true })],
    },
  ],
  ["ResumeRobot", { summary: "Lets a paused robot go on.", examples: [one("go on", { amrId: 101 })] }],
  ["GetMap", { summary: "Reads the points of a map.", examples: [one("read", { mapId: 1 })] }],
]);

function one(title: string, request: unknown): RequestExample {
  return { title, request };
}

function goals(...destinations: readonly string[]) {
  return destinations.map((destinationId) => ({ destinationId }));
}

function motor(index: number, word: "STOP" | "CW" | "CCW") {
  return { index, command: `COMMAND_CONVEYOR_MOTOR_${word}` };
}
