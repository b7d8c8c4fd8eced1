import type { AlarmRequests } from "../../contracts/alarms.ts";
import { quoted } from "../../domain/clip.ts";
import type { Source } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Shared } from "../parts.ts";
import { refusedRight } from "../rights.ts";

export type AlarmRequestParts = Pick<
  Shared,
  "alarmRegistry" | "audit" | "clock" | "deliver" | "log" | "rights" | "stopping"
>;

/** What users do about alarms, with rights, log and audit. */
export function createAlarmRequests(parts: AlarmRequestParts): AlarmRequests {
  const { alarmRegistry, clock, log } = parts;

  function refusedOf(source: Source, robotId: RobotId | null, act: string): Outcome | null {
    if (parts.stopping.signal.aborted)
      return refusal("SHUTTING_DOWN", "the gateway is shutting down; nothing is changed");
    const refused = refusedRight(parts.rights.now(), {
      source,
      operation: null,
      act,
      role: "operator",
      robotId,
    });
    return refused === null ? null : refusal("NOT_ALLOWED", refused);
  }

  function report(source: Source, what: string, fields: Readonly<Record<string, string | null>>): void {
    const { protocol, name: user } = source;
    log.info({ ...fields, by: `${protocol}:${user}` }, `alarm ${what}`);
    parts.audit({
      at: new Date(clock.nowMs()).toISOString(),
      event: "alarm",
      alarm: what,
      ...fields,
      protocol,
      user,
    });
    // All protocols get the changed alarms at once.
    parts.deliver({ changes: [], events: [] });
  }

  return {
    acknowledge({ source, alarmId }) {
      const alarm = alarmRegistry.find(alarmId);
      // A user that may not acknowledge it learns nothing about it.
      const robotId = alarm?.source.kind === "robot" ? alarm.source.robotId : null;
      const refused = refusedOf(source, robotId, "acknowledge alarms");
      if (refused !== null) return refused;
      if (alarm === undefined)
        return refusal("MALFORMED", `alarm: no alarm stands with the id ${quoted(alarmId)}`);
      const isFirst = alarm.acknowledged === null;
      alarmRegistry.acknowledge(alarmId, source);
      if (isFirst) report(source, "acknowledged", { alarm_id: alarmId, code: alarm.code, robot_id: robotId });
      return null;
    },
    putOutOfService({ source, robotId, isOut }) {
      const refused = refusedOf(source, robotId, "take robots out of service");
      if (refused !== null) return refused;
      if (alarmRegistry.isOutOfService(robotId) === isOut) return null;
      alarmRegistry.putOutOfService(robotId, isOut);
      report(source, isOut ? "out of service" : "in service", { robot_id: robotId });
      return null;
    },
  };
}
