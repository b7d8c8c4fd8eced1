import type { AlarmView } from "../../src/models/alarm.ts";
import type { Command } from "../../src/northbound/web/api/command.ts";
import type { Station } from "../../src/northbound/web/api/floor.ts";
import type { Robot } from "../../src/northbound/web/api/robot.ts";
import { oneMission, standingRobot } from "./standing-robot.ts";

const at = "2026-01-02T03:04:05.000Z";
const observed = { quality: "good", received_at: at, age_ms: 100, source_time: null } as const;

/** An alarm that nobody has acknowledged. */
export const flatBattery: AlarmView = {
  id: "a1",
  code: "BATTERY_CRITICAL",
  source: "robot",
  robot_id: "cart-1",
  priority: "high",
  severity: 600,
  text: "8 % are left",
  cause: "it was not charged",
  advice: "charge it now",
  robots: "can still drive until it is empty",
  active: true,
  since: at,
  returned_at: null,
  occurrences: 2,
  acknowledged_by: null,
  acknowledged_at: null,
  comment: null,
  commented_by: null,
  commented_at: null,
};

/** A robot of which a page shows all parts that there are. */
export function busyRobot(robotId: string): Robot {
  return standingRobot(robotId, {
    mission: oneMission({
      mission_id: "0b9a5c1e-4a0f-4b6e-9a59-2f8f6b8f9d11",
      state: "STATE_PAUSED",
      mission_type: { cart_type: "CART_TYPE_TRAVERSE" },
      goals: [
        { destination_id: "Station A" },
        { pose: { x_meters: 1.5, y_meters: 2.25, heading_radians: 0 } },
      ],
      current_goal_index: 1,
    }),
    task_chain: {
      ...observed,
      state: {
        task_chain_state: { id: 7, amr_id: 101, task_seq: "seq-7", status: "EXECUTING" },
        task_states: [
          { id: 1, task_type: "TASK_TYPE_LOAD", map_id: 1, end_point_code: "P1", status: "EXECUTING" },
        ],
      },
      current_task_index: 0,
      waits_for_confirmation: false,
    },
    conveyors: [
      {
        index: 1,
        ...observed,
        state: {
          index: 1,
          operation_state: "OPERATION_STATE_STOP",
          payload_state: "PAYLOAD_STATE_LOADED",
          health_state: "HEALTH_STATE_OK",
          installation_state: "INSTALLATION_STATE_INSTALLED",
        },
      },
    ],
    exception: { texts: ["the robot's way is blocked"], codes: ["1001"], level: 1 },
    lease: { station: "dock", owner: "opcua:line1", since: at },
    hold: { held: true, by: ["web:eva"], stored: true },
    alarms: [flatBattery],
  });
}

/** A command of the log, with an outcome that somebody must look at. */
export const lostCommand: Command = {
  number: 1,
  protocol: "opcua",
  user: "line1",
  request_id: "r1",
  operation: "CreateMission",
  robot_id: "cart-1",
  request: '{"robotId":"cart-1"}',
  on_behalf_of: null,
  stage: "final",
  accepted_at: at,
  sent_at: at,
  final_at: at,
  age_ms: 1_000,
  outcome: "unknown",
  code: "UNAVAILABLE",
  message: "the connection was lost",
  meaning: "nobody knows whether the robot has it: look at the robot",
  mission_id: null,
  evidence: null,
  found_later: null,
};

/** A station where cart-1 is, and has been leased. */
export const dock: Station = {
  station: "dock",
  quality: "good",
  state: {
    valid: true,
    robot_here: "cart-1",
    robots_here: 1,
    arrived: true,
    conveyors: [],
    conveyors_quality: "good",
    next_robot: "cart-2",
    next_robot_goals_before: 1,
    next_robot_quality: "good",
    counters: {
      since: at,
      cycles: 3,
      aborted: 1,
      waiting_last_s: 2,
      waiting_total_s: 6,
      cycle_last_s: 20,
      cycle_total_s: 60,
    },
  },
  permit: { required: true, given: false, reason: "the machine has not asked" },
  leases: [{ robot_id: "cart-1", owner: "opcua:line1", since: at, for_ms: 1_000 }],
  alarms: 0,
};
