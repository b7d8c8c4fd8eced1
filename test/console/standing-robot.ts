import type { MissionView } from "../../src/models/robot.ts";
import type { Robot } from "../../src/northbound/web/api/robot.ts";

/** The value of a robot whose queue is one mission. */
export function oneMission(
  changes: Partial<MissionView>,
  quality: Robot["quality"] = "good",
): NonNullable<Robot["mission"]> {
  const mission: MissionView = {
    mission_id: "m1",
    state: "STATE_RUNNING",
    goals: [],
    current_goal_index: 0,
    mission_feedback: null,
    mission_type: null,
    owner: "api",
    ...changes,
  };
  return {
    quality,
    received_at: "2026-01-02T03:04:05.000Z",
    age_ms: 0,
    source_time: null,
    state: {
      metadata: null,
      missions: [mission],
      current_mission_index: 0,
      current_mission: mission,
      current_goal: mission.goals[mission.current_goal_index] ?? null,
    },
  };
}

/** A robot that stands at Station A, and of which all is known. */
export function standingRobot(robotId: string, changes: Partial<Robot> = {}): Robot {
  const at = "2026-01-02T03:04:05.000Z";
  return {
    robot_id: robotId,
    family: "cart",
    quality: "good",
    out_of_service: false,
    idle: {
      reason: "IDLE",
      text: "the robot has neither a mission nor a task chain under way",
      since: at,
      for_ms: 60_000,
      not_ready: false,
    },
    place: {
      quality: "good",
      amr_id: 101,
      map_id: 1,
      map_name: "Hall 1",
      point: "P1",
      x: 0,
      y: 0,
      theta: 0,
      received_at: at,
      age_ms: 100,
      listed: true,
      unfinished_points: [],
    },
    mission: null,
    battery: {
      quality: "good",
      received_at: at,
      age_ms: 100,
      source_time: null,
      state: {
        metadata: null,
        battery_state: {
          charge_percent: 81,
          state: "STATE_DISCHARGING",
          charge_method: "CHARGE_METHOD_NONE",
        },
      },
    },
    task_chain: null,
    conveyors: [],
    exception: null,
    lease: null,
    hold: { held: false, by: [], stored: true },
    alarms: [],
    ...changes,
  };
}
