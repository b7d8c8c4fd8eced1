import type { Alarm, AlarmCode, AlarmSource } from "../domain/alarm.ts";
import type { AlarmCondition } from "../domain/alarm-life.ts";
import type { Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";

/**
 * Says whether the condition of an alarm holds now. The alarm book decides when an alarm is raised, and when
 * it has returned. To say the same again changes nothing.
 */
export type StateAlarm = (source: AlarmSource, code: AlarmCode, condition: AlarmCondition) => void;

/** The alarm book, as those who may change it see it. Whether a user may is not its question. */
export interface AlarmKeeper {
  readonly state: StateAlarm;
  /** The alarm of this id that stands. */
  find(id: string): Alarm | undefined;
  /** Nothing happens when no alarm has this id. */
  acknowledge(id: string, by: Source): void;
  putOutOfService(robotId: RobotId, isOut: boolean): void;
  isOutOfService(robotId: RobotId): boolean;
}

/** A user acknowledges an alarm. */
export interface Acknowledgement {
  readonly source: Source;
  readonly alarmId: string;
}

/** A user takes a robot out of service, or puts it back. */
export interface ServiceRequest {
  readonly source: Source;
  readonly robotId: RobotId;
  readonly isOut: boolean;
}

/** What users do about alarms: operators of the robot, or of all robots where an alarm is of none. */
export interface AlarmRequests {
  /** Null when it is taken, or was acknowledged before; otherwise the refusal. */
  acknowledge(asked: Acknowledgement): Outcome | null;
  /** The alarms of a robot out of service rest, its commands are not touched. Null, or the refusal. */
  putOutOfService(asked: ServiceRequest): Outcome | null;
}

/** The same for protocols, which answer. */
export interface Alarms extends AlarmRequests {
  /** Null when what users did is on the disk; otherwise what they should know. Waits a second at most. */
  storeProblem(): Promise<string | null>;
}

/** What a robot, a station or the gateway shows of its alarms. */
export interface AlarmsShown {
  /** Of a station with those of the robot that stands there, of the gateway all; the most urgent first. */
  readonly alarms: readonly Alarm[];
  /** Of a robot; false elsewhere. */
  readonly isOutOfService: boolean;
}

/** For a protocol that begins to show a robot, a station or the gateway. */
export interface StandingAlarms {
  /** Now; what follows comes as changes. */
  shown(source: AlarmSource): AlarmsShown;
}
