import { type MissionState, MissionState_State } from "../../../src/wire/fleet/v1/mission_pb.js";
import { Feedback_Status, ServeType } from "../../../src/wire/fleet/v1/serve/serve_pb.js";
import type { SubscribeMissionStatusResponse } from "../../../src/wire/fleet/v1/service_pb.js";

/**
 * The same content as the gateway's mission topic, by the shortest way: an object literal and JSON.stringify.
 */
export function asJson(message: SubscribeMissionStatusResponse): string {
  const queue = message.missionStates;
  const missions = (queue?.missions ?? []).map(missionJson);
  const current = missions[queue?.currentMissionIndex ?? -1] ?? null;
  const timestamp = message.metadata?.timestamp;
  return JSON.stringify({
    robot_id: message.robotId,
    quality: "good",
    received_at: new Date().toISOString(),
    session_id: "floor",
    state: {
      metadata: {
        timestamp: new Date(
          Number(timestamp?.seconds ?? 0n) * 1000 + (timestamp?.nanos ?? 0) / 1e6,
        ).toISOString(),
        sequence_number: Number(message.metadata?.sequenceNumber ?? 0n),
      },
      missions,
      current_mission_index: queue?.currentMissionIndex ?? 0,
      current_mission: current,
      current_goal: current?.goals[current.current_goal_index] ?? null,
    },
  });
}

function missionJson(mission: MissionState) {
  const feedback = mission.missionFeedback?.feedback;
  const type = mission.missionType?.type;
  return {
    mission_id: mission.missionId,
    state: `STATE_${MissionState_State[mission.state]}`,
    goals: mission.goals.map((goal) => ({ destination_id: goal.goal.value })),
    current_goal_index: mission.currentGoalIndex,
    mission_feedback:
      feedback?.case === "serveFeedback"
        ? { serve_feedback: { status: `STATUS_${Feedback_Status[feedback.value.status]}` } }
        : null,
    mission_type: type?.case === "serveType" ? { serve_type: `SERVE_TYPE_${ServeType[type.value]}` } : null,
    owner: mission.owner,
  };
}
