import type { Alarm, AlarmCode, AlarmSource } from "../domain/alarm.ts";
import type { AlarmCondition } from "../domain/alarm-instance.ts";
import type { Source } from "../domain/command.ts";
import type { RobotId } from "../domain/robot.ts";

/**
 * Sets or clears the condition of an alarm. The alarm registry decides when the alarm is raised, and when it
 * has returned. The same again changes nothing.
 */
export type StateAlarm = (source: AlarmSource, code: AlarmCode, condition: AlarmCondition) => void;

/** The alarm registry, for code that may change it. It does not check permissions. */
export interface AlarmConditionSink {
  readonly state: StateAlarm;
  /** The active or unacknowledged alarm with this id. */
  find(id: string): Alarm | undefined;
  /** Does nothing if no alarm has this id, or if it is acknowledged. */
  acknowledge(id: string, by: Source, comment?: string): void;
  /** Does nothing if no alarm has this id. */
  comment(id: string, by: Source, text: string): void;
  /** The alarms of a robot out of service rest; its commands are not affected. */
  putOutOfService(robotId: RobotId, isOut: boolean): void;
  isOutOfService(robotId: RobotId): boolean;
}

/** Whether the disk has what users did about alarms. */
export interface AlarmStore {
  /** Null: what users did is on the disk; otherwise what they should know. Waits a second at most. */
  storeProblem(): Promise<string | null>;
}

/** What a robot, a station or the gateway shows of its alarms. */
export interface VisibleAlarms {
  /**
   * The most urgent first. Those of a station include the robot that stands there; those of the gateway are
   * all.
   */
  readonly alarms: readonly Alarm[];
  /** Of a robot; false otherwise. */
  readonly isOutOfService: boolean;
}

/** The present alarms, for a protocol that begins to publish a robot, a station or the gateway. */
export interface ActiveAlarms {
  /** The alarms now; later ones come as changes. */
  shown(source: AlarmSource): VisibleAlarms;
}

/** Charge at which a robot's battery is low, and critical. Percent. */
export interface BatteryLimits {
  readonly low: number;
  readonly critical: number;
}

/** What the conditions of alarms show besides their alarms. */
export interface AlarmFacts {
  /** At which alarms are raised now. */
  batteryLimits(): BatteryLimits;
  /** Wall time at which the first certificate of the gateway ends; null: none is known. */
  certificateEndMs(): number | null;
}
