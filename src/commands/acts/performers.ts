import type { ActRequest } from "../../contracts/acts.ts";
import type { AlarmConditionSink } from "../../contracts/alarms.ts";
import type { CommandRights } from "../../contracts/commander.ts";
import type { ActFields, ActName } from "../../domain/acts.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { Source } from "../../domain/command.ts";
import { quoted } from "../../domain/foreign-text.ts";
import { type HoldState, holderName } from "../../domain/hold.ts";
import { ending, type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { JsonObject } from "../../platform/json.ts";
import type { HoldControl } from "../holds/hold-control.ts";
import { NOT_LIFTED, NOT_STORED } from "../holds/hold-store.ts";
import type { LeaseControl } from "../leases/lease-control.ts";
import type { PermitControl } from "../permits/permit-control.ts";

/** Performs each act; the runner has checked its fields and its role. */
export type Performers = {
  readonly [Name in ActName]: (
    fields: ActFields<Name>,
    request: Pick<ActRequest, "source" | "session" | "isTag">,
  ) => Outcome | Promise<Outcome>;
};

/** Logs and audits an act that has changed something. */
export type ReportAct = <Name extends ActName>(
  event: "alarm" | "counters",
  act: Name,
  fields: ActFields<Name>,
  source: Source,
  change: Readonly<Record<string, string | null>>,
) => void;

/** Programs that send heartbeats: more than there are stations. */
const MOST_COUNTERS = 10_000;

/** What acts change in this module, and who may. */
export interface ActTargets {
  readonly holds: Pick<HoldControl, "hold" | "holdState" | "stateWhenStored" | "refusedName">;
  readonly stations: Pick<LeaseControl, "ask" | "release" | "override" | "heartbeat" | "leaseOf" | "leased">;
  readonly permits: Pick<PermitControl, "write" | "heartbeat">;
  readonly rights: Pick<CommandRights, "refusedLift" | "refusedStation">;
}

export function createPerformers(
  { holds, stations: leases, permits, rights }: ActTargets,
  alarms: AlarmConditionSink,
  resetCounters: (station: string) => void,
  report: ReportAct,
): Performers {
  const counters = new BoundedMap<string, number>(MOST_COUNTERS);

  function hold(
    robotId: RobotId | null,
    { hold: isHeld, user }: ActFields<"HoldAll">,
    { source, isTag }: Pick<ActRequest, "source" | "isTag">,
  ): Outcome {
    if (isHeld && user !== undefined)
      return refusal("MALFORMED", "user: only with hold false: it names the user whose hold is lifted");
    const notAllowed = user === undefined ? null : rights.refusedLift(source, robotId);
    if (notAllowed !== null) return refusal("NOT_ALLOWED", notAllowed);
    const unknown = robotId === null || isTag === true ? null : holds.refusedName(robotId);
    const refused = unknown ?? holds.hold({ source, robotId, isHeld, user });
    if (refused !== null) return refused;
    return answerOfHold(holds.holdState(robotId), isHeld);
  }

  /** With the source's present leases: a lease that has ended by itself is missing there. */
  function leased(station: string, source: Source): Outcome {
    const robots = leases.leased(station, source);
    return robots === null ? noStation(station) : done({ leased: robots });
  }

  /** The first counter of a program is no sign of life: it may repeat the last one of a stopped program. */
  function isAlive(station: string, source: Source, session: string, counter: number): boolean {
    const key = JSON.stringify([station, source, session]);
    const before = counters.get(key);
    counters.set(key, counter);
    return before !== undefined && before !== counter;
  }

  /** Changes the alarm with `perform`, unless there is none. */
  function onAlarm(id: string, perform: (alarm: Alarm) => Outcome): Outcome {
    const alarm = alarms.find(id);
    if (alarm !== undefined) return perform(alarm);
    return refusal("MALFORMED", `alarm_id: there is no alarm with the id ${quoted(id)}`);
  }

  return {
    Hold: (fields, request) => hold(fields.robot_id, fields, request),
    HoldAll: (fields, request) => hold(null, fields, request),
    AcknowledgeAlarm: (fields, { source }) =>
      onAlarm(fields.alarm_id, (alarm) => {
        const { id, acknowledged, code } = alarm;
        if (acknowledged === null) {
          alarms.acknowledge(id, source, fields.comment);
          const change = { alarm: "acknowledged", alarm_id: id, code, robot_id: robotOfAlarm(alarm) };
          report("alarm", "AcknowledgeAlarm", fields, source, change);
        }
        return done({ acknowledged_by: holderName(acknowledged?.by ?? source) });
      }),
    CommentAlarm: (fields, { source }) =>
      onAlarm(fields.alarm_id, (alarm) => {
        const { id, code, comment } = alarm;
        const isSame = comment?.text === fields.comment && holderName(comment.by) === holderName(source);
        if (!isSame) {
          alarms.comment(id, source, fields.comment);
          const change = { alarm: "commented", alarm_id: id, code, robot_id: robotOfAlarm(alarm) };
          report("alarm", "CommentAlarm", fields, source, change);
        }
        return done({ commented_by: holderName(source) });
      }),
    SetOutOfService(fields, { source, isTag }) {
      const { robot_id, out_of_service: isOut } = fields;
      const unknown = isTag === true ? null : holds.refusedName(robot_id);
      if (unknown !== null) return unknown;
      if (alarms.isOutOfService(robot_id) !== isOut) {
        alarms.putOutOfService(robot_id, isOut);
        const change = { alarm: isOut ? "out of service" : "in service", robot_id };
        report("alarm", "SetOutOfService", fields, source, change);
      }
      return done();
    },
    LeaseRobot: async ({ station, robot_id }, { source }) =>
      (await leases.ask(station, source, robot_id)) ?? leased(station, source),
    ReleaseRobot: ({ station, robot_id }, { source }) =>
      leases.release(station, source, robot_id) ?? leased(station, source),
    OverrideLease({ robot_id }, { source }) {
      const lease = leases.leaseOf(robot_id);
      const ended = { station: lease?.station ?? null, owner: lease ? holderName(lease.owner) : null };
      return leases.override(source, robot_id) ?? done(ended);
    },
    Heartbeat({ station, counter }, { source, session = "" }) {
      if (isAlive(station, source, session, counter)) {
        leases.heartbeat(station, source);
        permits.heartbeat(station, source);
      }
      return leased(station, source);
    },
    Permit: ({ station, permit }, { source }) => permits.write(station, source, permit) ?? done(),
    ResetCounters(fields, { source }) {
      const { station } = fields;
      if (leases.leased(station, source) === null) return noStation(station);
      const refused = rights.refusedStation(source, station);
      if (refused !== null) return refusal("NOT_ALLOWED", refused);
      resetCounters(station);
      report("counters", "ResetCounters", fields, source, { counters: "reset", station });
      return done();
    },
  };
}

/** The answer to a hold, or to one that is lifted. */
export function answerOfHold({ isHeld, by, isStored }: HoldState, isAsked: boolean): Outcome {
  const notStored = isAsked ? NOT_STORED : NOT_LIFTED;
  return { ...done({ held: isHeld, by, stored: isStored }), message: isStored ? "" : notStored };
}

/** The robot of an alarm; null: it concerns none. */
export function robotOfAlarm(alarm: ReturnType<AlarmConditionSink["find"]>): RobotId | null {
  return alarm?.source.kind === "robot" ? alarm.source.robotId : null;
}

function noStation(station: string): Outcome {
  return refusal("MALFORMED", `there is no station ${quoted(station)}`);
}

function done(answer?: JsonObject): Outcome {
  const responseJson = answer === undefined ? null : JSON.stringify(answer);
  return { ...ending("succeeded", "OK", "", true), responseJson };
}
