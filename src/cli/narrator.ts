import type { Batch, Sink } from "../contracts/link.ts";
import type { FleetEvent } from "../domain/event.ts";
import { holderName } from "../domain/hold.ts";
import {
  currentGoal,
  currentMission,
  type Goal,
  type Mission,
  type MissionQueue,
} from "../domain/mission.ts";
import type { RobotId } from "../domain/robot.ts";

/** Writes one line of text. */
export type WriteLine = (line: string) => void;

const verbs: Readonly<Record<string, string>> = {
  STATE_DEFAULT: "queued",
  STATE_RUNNING: "started",
  STATE_PAUSED: "paused",
  STATE_CANCELED: "canceled",
  STATE_SUCCEEDED: "succeeded",
  STATE_FAILED: "FAILED",
};

/**
 * A northbound for a person at a terminal: a line for each event. The first batch is the state before the
 * demo was watched, and prints nothing.
 */
export function createNarrator(writeLine: WriteLine): Sink {
  const arrivals = new Map<RobotId, string>();
  const missions = new Map<RobotId, MissionQueue>();

  function report(atMs: number, robotId: RobotId, text: string): void {
    writeLine(`${new Date(atMs).toISOString().slice(11, 19)}  ${robotId.padEnd(10)}  ${text}`);
  }

  function noteArrival(robotId: RobotId, queue: MissionQueue, atMs: number): void {
    const mission = currentMission(queue);
    const place = mission === undefined ? "" : arrivedAt(mission);
    const known = arrivals.get(robotId);
    arrivals.set(robotId, place);
    if (known !== undefined && place !== "" && place !== known) report(atMs, robotId, `arrived at ${place}`);
  }

  return {
    write(batch: Batch) {
      for (const change of batch.changes) {
        if (change.kind !== "mission") continue;
        missions.set(change.robotId, change.observed.value);
        noteArrival(change.robotId, change.observed.value, change.observed.stamp.receivedAtMs);
      }
      for (const event of batch.events) {
        if (event.kind === "conveyor" && event.from === null) continue;
        report(event.atMs, event.robotId, eventText(event, missions));
      }
    },
  };
}

const alarmWords = { active: "ALARM", inactive: "alarm over", acknowledged: "alarm acknowledged" } as const;

function eventText(event: FleetEvent, missions: ReadonlyMap<RobotId, MissionQueue>): string {
  switch (event.kind) {
    case "mission": {
      const verb = typeof event.to === "string" ? verbs[event.to] : undefined;
      const mission = missions.get(event.robotId)?.missions.find((one) => one.missionId === event.missionId);
      const goals = event.to === "STATE_RUNNING" && mission !== undefined ? ` → ${goalsText(mission)}` : "";
      return `mission ${event.missionId} ${verb ?? "changed"}${goals}`;
    }
    case "conveyor":
      return `conveyor ${event.to.index} ${word(event.to.operation)}, ${word(event.to.payload)}`;
    case "battery":
      return `battery ${word(event.to)} at ${event.chargePercent} %`;
    case "alarm":
      return `${alarmWords[event.to]}: ${event.alarm.text}`;
    case "command":
      return `command ${event.operation} ${event.outcome.outcome}`;
    case "lease":
      return `${event.to === "leased" ? "leased to" : "no longer leased to"} station ${event.station}`;
    case "hold":
      return `${event.to === "held" ? "held" : "no longer held"} by ${holderName(event.owner)}`;
    case "dropped":
      return `${event.count} events dropped`;
  }
}

/** The goal at which the robot stands, by its feedback; empty while it drives. */
function arrivedAt(mission: Mission): string {
  const { feedback } = mission;
  const there = feedback !== null && feedback.family !== "none" && feedback.status === "STATUS_ARRIVED";
  const goal = currentGoal(mission);
  return there && goal !== undefined ? goalText(goal) : "";
}

function goalsText(mission: Mission): string {
  return mission.goals.map(goalText).join(", ");
}

function goalText(goal: Goal): string {
  switch (goal.kind) {
    case "destination":
      return goal.destinationId;
    case "pose":
      return `(${goal.pose.xMeters}, ${goal.pose.yMeters})`;
    case "none":
      return "?";
  }
}

/** The last word of an enum's name: `OPERATION_STATE_ROLLING` is rolling. */
function word(value: string | { readonly raw: number }): string {
  return typeof value === "string"
    ? value.slice(value.lastIndexOf("_") + 1).toLowerCase()
    : String(value.raw);
}
