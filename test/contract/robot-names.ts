import type { JsonObject } from "@bufbuild/protobuf";

/** Every operation that names one robot by its robot_id, with a request that is right in everything else. */
export function robotOperations(robotId: string): ReadonlyArray<readonly [string, JsonObject]> {
  const goal = { destinationId: "G2" };
  const mission = { baseMission: { navigateMission: { goal } } };
  return [
    ["CreateMission", { robotId, mission }],
    ["AppendMission", { robotId, mission }],
    ["UpdateMission", { robotId, missionCommand: { missionId: "any", command: "COMMAND_CANCEL" } }],
    [
      "CreateMissionWorkflow",
      { robotId, missionWorkflow: { cartWorkflow: { traverse: { goals: [goal] } } } },
    ],
    ["SkipGoal", { robotId }],
    ["ChargeRobot", { robotId }],
    ["GetConveyorIndex", { robotId }],
    ["ControlConveyor", { robotId, commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" }] }],
  ];
}
