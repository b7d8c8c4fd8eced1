import type { Robot } from "../../src/northbound/web/api/robot.ts";

/** A robot that stands at Station A, and of which all is known. */
export function standingRobot(robotId: string, changes: Partial<Robot> = {}): Robot {
  const at = "2026-01-02T03:04:05.000Z";
  return {
    robot_id: robotId,
    family: "cart",
    quality: "good",
    out_of_service: false,
    standing: {
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
    missions: null,
    battery: {
      quality: "good",
      received_at: at,
      age_ms: 100,
      source_time: null,
      state: { charge_percent: 81, state: "STATE_DISCHARGING", charge_method: "CHARGE_METHOD_NONE" },
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
