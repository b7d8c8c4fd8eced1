import type { BatteryLimits } from "../contracts/alarms.ts";
import type { AlarmCode, AlarmSource } from "../domain/alarm.ts";
import type { AlarmCondition } from "../domain/alarm-instance.ts";
import type { StateChange } from "../domain/change.ts";
import { isOwedStop } from "../domain/command.ts";
import type { FleetEvent } from "../domain/event.ts";
import { clip } from "../domain/foreign-text.ts";
import { amrExceptionOf, exceptionText, isException } from "../domain/idle-reason.ts";
import type { MissionQueue } from "../domain/mission.ts";
import type { Quality, Stamp } from "../domain/observed.ts";
import type { Battery, Conveyor, Presence, RobotId } from "../domain/robot.ts";
import type { Live } from "../platform/live.ts";
import type { Log } from "../platform/log.ts";
import type { AlarmRegistry } from "./alarm-registry.ts";

const HYSTERESIS_PERCENT = 5;
const LONGEST_TEXT = 500;
/** States of a mission that has not begun. */
const waiting: ReadonlySet<unknown> = new Set(["STATE_UNKNOWN", "STATE_DEFAULT"]);

/** Whose messages have a time of the robot. */
type StampedChange = Extract<StateChange, { readonly kind: "mission" | "battery" }>;

/** Sets and clears conditions of alarms by the values and events of the fleet. */
export interface AlarmConditions {
  handle(change: StateChange): void;
  handleEvent(event: FleetEvent): void;
}

/** A value that is not known now changes no condition: an alarm stands until the contrary is known. */
export function createAlarmConditions(registry: AlarmRegistry, limits: Live<BatteryLimits>): AlarmConditions {
  /** The newest messages with a time of their own. */
  const newest = { mission: new Map<RobotId, Stamp>(), battery: new Map<RobotId, Stamp>() };

  function state(robotId: RobotId, code: AlarmCode, holds: boolean, text: string): void {
    registry.state({ kind: "robot", robotId }, code, { holds, text });
  }

  function hearRobot(robotId: RobotId, quality: Quality): void {
    if (quality === "unknown") return;
    state(robotId, "ROBOT_LOST", quality === "lost", "nothing known of the robot is true any more");
  }

  /** A message counts once: it comes again when its quality changes, after newer ones of another kind. */
  function handleClock({ kind, robotId, observed: { stamp } }: StampedChange): void {
    if (newest[kind].get(robotId) === stamp) return;
    newest[kind].set(robotId, stamp);
    const { isClockWrong = false } = stamp;
    state(robotId, "ROBOT_CLOCK", isClockWrong, "the times of the robot's messages cannot be true");
  }

  function hearPresence(robotId: RobotId, presence: Presence): void {
    const exception = amrExceptionOf(presence);
    const holds = isException(exception);
    state(robotId, "ROBOT_EXCEPTION", holds, holds ? clip(exceptionText(exception), LONGEST_TEXT) : "");
  }

  function handleConveyor(robotId: RobotId, { index, health }: Conveyor, isListed: boolean): void {
    const holds = isListed && health === "HEALTH_STATE_ERROR";
    state(robotId, `CONVEYOR_ERROR_${index}`, holds, `conveyor ${index} reports an error`);
  }

  function hearBattery(robotId: RobotId, { chargePercent, state: charging }: Battery): void {
    const source = { kind: "robot", robotId } as const;
    for (const [code, limit] of [
      ["BATTERY_LOW", limits.now().low],
      ["BATTERY_CRITICAL", limits.now().critical],
    ] as const) {
      const most = registry.holds(source, code) ? limit + HYSTERESIS_PERCENT : limit;
      const holds = charging !== "STATE_CHARGING" && chargePercent <= most;
      state(robotId, code, holds, `the battery has ${limit} % or less`);
    }
  }

  function hearMissions(robotId: RobotId, { missions }: MissionQueue): void {
    if (missions.length === 0) return;
    let failed: string | null = null;
    for (const { missionId, state: found } of missions) {
      if (found === "STATE_FAILED") failed = missionId;
      else if (!waiting.has(found)) failed = null;
    }
    state(robotId, "MISSION_FAILED", failed !== null, `mission ${failed} failed`);
  }

  return {
    handle(change) {
      if (change.kind === "robot") hearRobot(change.robotId, change.quality);
      if (!("observed" in change) || !("robotId" in change)) return;
      const { robotId, observed } = change;
      if (change.kind === "mission" || change.kind === "battery") handleClock(change);
      if (change.kind === "conveyor" && observed.isGone)
        handleConveyor(robotId, change.observed.value, false);
      if (observed.quality !== "good") return;
      switch (change.kind) {
        case "presence":
          return hearPresence(robotId, change.observed.value);
        case "conveyor":
          return handleConveyor(robotId, change.observed.value, true);
        case "battery":
          return hearBattery(robotId, change.observed.value);
        case "mission":
          return hearMissions(robotId, change.observed.value);
      }
    },
    handleEvent(event) {
      if (event.kind !== "command" || event.outcome.outcome !== "unknown") return;
      // The leader has the record, and tells its outcome.
      if (event.outcome.code === "STANDBY") return;
      // An owed stop has an alarm of its own: CONVEYOR_NOT_STOPPED, until the conveyor is seen to stand.
      if (event.foundLater !== undefined || isOwedStop(event.command)) return;
      const { robotId, operation, command } = event;
      const { protocol, name } = command.source;
      const source: AlarmSource = robotId === "" ? { kind: "gateway" } : { kind: "robot", robotId };
      const text = `nobody can tell whether ${operation} of ${protocol}:${name} had its effect (${command.requestId})`;
      const condition: AlarmCondition = { holds: true, text: clip(text, LONGEST_TEXT) };
      registry.state(source, "OUTCOME_UNKNOWN", condition);
    },
  };
}

/** Raises an alarm while the clocks of this machine and the fleet service differ. */
export interface ClockAlarm {
  /** The clock of the service minus that of this machine, in milliseconds. */
  note(skewMs: number): void;
  /** Why this machine's clock cannot be right; null: it may be. Nothing needs to be known of the service. */
  noteWrong(problem: string | null): void;
}

const NOTABLE_SKEW_MS = 2_000;
/** Hysteresis: a difference near the limit must not cause an event each second. */
const AGREEING_SKEW_MS = 1_000;

/**
 * @param tell is called at the first look, and with each change, with whether the clocks differ
 * @param confirm is called with how far the right time is ahead of the wall clock: 0 while the two clocks
 * agree. Until they have agreed once, the wall clock may have been set back while the gateway was down: the
 * service's time counts if it is later
 */
export function createClockAlarm(
  log: Log,
  report: (active: boolean, text: string) => void,
  confirm: (aheadMs: number) => void,
): ClockAlarm {
  /** Null: not known yet. */
  let isOn: boolean | null = null;
  let skewText = "";
  let isWrong = false;
  let haveAgreed = false;
  return {
    note(skewMs) {
      const distanceMs = Math.abs(skewMs);
      haveAgreed ||= distanceMs <= NOTABLE_SKEW_MS;
      if (distanceMs <= NOTABLE_SKEW_MS) confirm(0);
      else if (!haveAgreed && skewMs > 0) confirm(skewMs);
      const is = distanceMs > (isOn === true ? AGREEING_SKEW_MS : NOTABLE_SKEW_MS);
      if (is === isOn) return;
      const isFirst = isOn === null;
      isOn = is;
      const text = is
        ? `this machine's clock is ${Math.round(distanceMs / 1_000)} s ${skewMs > 0 ? "behind" : "ahead of"} the fleet service's: set it right; until then give commands expires_in_ms, not expires_at`
        : "this machine's clock agrees with the fleet service's again";
      if (is) log.warn({ skewMs }, text);
      else if (!isFirst) log.info({ skewMs }, text);
      skewText = text;
      if (is || !isWrong) report(is, text);
    },
    noteWrong(problem) {
      if ((problem !== null) === isWrong) return;
      isWrong = problem !== null;
      // The service's clock knows better.
      if (isOn !== true) report(isWrong, problem ?? skewText);
    },
  };
}
