import type { RobotId } from "../domain/robot.ts";

/** Values at equal steps of wall time, the oldest first. A restart forgets them. */
export interface Trend<Value> {
  /** Since when values have been kept. */
  readonly sinceMs: number;
  readonly stepMs: number;
  /** When the first step began. */
  readonly firstAtMs: number;
  /** Null: nothing was known in that step. */
  readonly values: ReadonlyArray<Value | null>;
}

/** Charges of robots over hours. */
export interface BatteryTrends {
  /** In percent. A robot whose charge was never known has no values. */
  batteryOf(robotId: RobotId): Trend<number>;
  /** Starts to record batteries. The returned function ends it, unless another caller still needs them. */
  open(): () => void;
}

/** Of the current mission, and of the robot's place on its map. */
export type HourName = "missionState" | "mapId" | "x" | "y" | "heading";

/** What robots did in the last hour. */
export interface HourTrends {
  /** Numbers as OPC UA shows them; a state without a mission is 0. */
  hourOf(robotId: RobotId, name: HourName): Trend<number>;
  /** Starts to record, as `BatteryTrends.open`. */
  open(): () => void;
}

/** The duration of the commands that ended within one step. */
export interface LatencyStep {
  /** Commands with a known outcome. */
  readonly commands: number;
  /** Commands with the outcome `unknown`: their duration is not known either. */
  readonly unknown: number;
  /** From acceptance to outcome, at most 5 % off; null: none has a known outcome. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export interface LatencyTrend {
  latency(): Trend<LatencyStep>;
}
