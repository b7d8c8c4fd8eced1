import type { FleetEvent } from "../../../domain/event.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { Live } from "../../../platform/live.ts";

/** A robot of the configuration. */
export interface NamedRobot {
  readonly robotId: RobotId;
  /** Null: the configuration gives none. */
  readonly alias: string | null;
  readonly number: number | null;
}

/** The edge node of Sparkplug B, all values given. */
export interface SparkplugOptions {
  readonly groupId: string;
  readonly nodeId: string;
  /** Births and data wait for this host; null: for none. */
  readonly primaryHost: string | null;
  /** The host publishes its state on the topic of versions before 3.0. */
  readonly legacyState: boolean;
  /** Whether the JSON topics are published too. */
  readonly json: boolean;
  /** Whether hosts may send commands. */
  readonly commands: boolean;
  readonly robots: Live<readonly NamedRobot[]>;
}

/** The edge node has a connection of its own, beside that of the JSON topics. */
export function sparkplugClientId(clientId: string): string {
  return `${clientId}-sparkplug`;
}

/**
 * The sender of commands from hosts, in rights, log and audit, where nobody knows which host has published
 * one: the group stands for all of them.
 */
export function sparkplugSender(groupId: string): string {
  return `sparkplug:${groupId}`;
}

/** Events that say what a metric was while the broker was away. */
export const storedKinds: ReadonlySet<FleetEvent["kind"]> = new Set([
  "mission",
  "conveyor",
  "battery",
  "alarm",
] as const);
