import type { AlarmView } from "../../models/alarm.ts";
import type { Station } from "../../northbound/web/api/floor.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { SessionFacts } from "../../northbound/web/api/session.ts";
import type { ListedAlarms } from "../../northbound/web/api/stream.ts";
import type { Emphasis } from "../floor/scene.ts";
import { say } from "../texts/texts.ts";
import { byName } from "./list.ts";

/** The state of an alarm: whether it is active, and whether somebody has acknowledged it. */
export function alarmState({ active, acknowledged_by: by }: AlarmView): string {
  if (by === null) return say(active ? "alarms.activeOpen" : "alarms.returnedOpen");
  return say(active ? "alarms.activeSeen" : "alarms.returnedSeen");
}

/**
 * Why this user may not acknowledge an alarm: only operators of its robot may, or of all robots if it
 * concerns none.
 */
export function whyNotAcknowledged(
  { robot_id: robotId }: AlarmView,
  { role, robots }: Pick<SessionFacts, "role" | "robots">,
): string | null {
  if (role === "observer") return say("alarms.onlyOperators");
  if (robots === null) return null;
  if (robotId === undefined) return say("alarms.onlyOfAll");
  return robots.includes(robotId) ? null : say("alarms.onlyOfRobot");
}

/**
 * How many alarms nobody has acknowledged. Of those that are not listed nothing else is known, so they count.
 */
export function needsSomebody({ count, alarms }: ListedAlarms): number {
  return count - alarms.filter(({ acknowledged_by: by }) => by !== null).length;
}

/** Colour is for what stands: an alarm that has returned only waits to be seen. */
export function alarmEmphasis({ active, priority }: AlarmView): Emphasis {
  if (!active) return "normal";
  return priority === "urgent" || priority === "high" ? "alarm" : "abnormal";
}

/**
 * The emphasis of a station's number of alarms: that of its gravest one, or of the robot that is there. The
 * least urgent ones may not be listed.
 */
export function stationEmphasis({ station, state }: Station, alarms: readonly AlarmView[]): Emphasis {
  const { robot_here: here } = state;
  const isThere = (alarm: AlarmView) => here !== null && alarm.robot_id === here;
  const own = alarms.filter((alarm) => alarm.station === station || isThere(alarm));
  return own.length === 0 ? "abnormal" : gravestEmphasis(own);
}

/** The emphasis of the alarms that nobody has acknowledged, as that of the gravest one. */
export function waitingEmphasis({ alarms }: ListedAlarms): Emphasis {
  return gravestEmphasis(alarms.filter(({ acknowledged_by: by }) => by === null));
}

function gravestEmphasis(alarms: readonly AlarmView[]): Emphasis {
  const each = alarms.map(alarmEmphasis);
  return (["alarm", "abnormal"] as const).find((emphasis) => each.includes(emphasis)) ?? "normal";
}

/** How many alarms are in each state, in words. */
export function alarmCounts(alarms: readonly AlarmView[]): string {
  const count = (has: (alarm: AlarmView) => boolean) => alarms.filter(has).length;
  return say("alarms.counts", {
    open: count((alarm) => alarm.acknowledged_by === null),
    seen: count((alarm) => alarm.acknowledged_by !== null),
    returned: count((alarm) => !alarm.active),
  });
}

/**
 * How many robots a lost link concerns; empty for any other alarm. Their own alarms rest meanwhile, so that
 * it is one alarm.
 */
export function concernedText(
  { code, active }: AlarmView,
  robots: readonly Pick<Robot, "quality">[],
): string {
  if (code !== "FLEET_LINK_DOWN" || !active) return "";
  const concerned = robots.filter(({ quality }) => quality !== "good").length;
  return say("alarms.concerned", { concerned, all: robots.length });
}

/** Fewer alarms of one code are listed one by one. */
const FEWEST_OF_GROUP = 3;
/** Of the robots of a group. */
const MOST_NAMED = 5;

/** Alarms of one code, or one alone. */
export type AlarmGroup = readonly [AlarmView, ...AlarmView[]];

/**
 * Whether an acknowledgement removes an alarm that nothing else shows any more: somebody must have looked at
 * its robot.
 */
export function endsByAcknowledgement({ code }: AlarmView): boolean {
  return code === "OUTCOME_UNKNOWN";
}

/** Whether an acknowledgement ends one of these. */
export function endsAny(alarms: readonly AlarmView[]): boolean {
  return alarms.some(endsByAcknowledgement);
}

/**
 * Alarms in the same order, those of one code as one group at the place of the first: the same advice two
 * hundred times would hide all others. One that an acknowledgement ends stays alone.
 */
export function groupsOf(alarms: readonly AlarmView[]): readonly AlarmGroup[] {
  const byCode = new Map<string, [AlarmView, ...AlarmView[]]>();
  for (const alarm of alarms) {
    const known = byCode.get(alarm.code);
    if (known === undefined) byCode.set(alarm.code, [alarm]);
    else known.push(alarm);
  }
  return [...byCode.values()].flatMap((group) =>
    group.length < FEWEST_OF_GROUP || endsByAcknowledgement(group[0])
      ? group.map((alarm): AlarmGroup => [alarm])
      : [group],
  );
}

/** The alarm of a group that stands for it: the first that is active. */
export function worstOf(group: AlarmGroup): AlarmView {
  return group.find(({ active }) => active) ?? group[0];
}

/** How many things the alarms of a group are about. */
export function groupCount(group: readonly AlarmView[]): string {
  const count = group.length;
  const isOf = (source: AlarmView["source"]) => group.every((alarm) => alarm.source === source);
  if (isOf("robot")) return say("alarms.ofRobots", { count });
  return isOf("station") ? say("alarms.ofStations", { count }) : say("alarms.number", { count });
}

/** What the alarms of a group are about: the first few, and how many more. */
export function groupNames(group: readonly AlarmView[]): string {
  const names = group.map(subjectName).sort(byName);
  const named = names.slice(0, MOST_NAMED).join(", ");
  const count = names.length - MOST_NAMED;
  return count > 0 ? say("alarms.namesMore", { names: named, count }) : named;
}

/** The robot or the station of an alarm, otherwise the gateway. */
export function subjectName({ robot_id: robotId, station }: AlarmView): string {
  return robotId ?? station ?? say("alarms.gateway");
}
