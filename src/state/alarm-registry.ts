import type { AlarmConditionSink } from "../contracts/alarms.ts";
import {
  type Alarm,
  type AlarmCode,
  type AlarmSource,
  alarmSourceKey,
  alarmsOfCluster,
  isOfBox,
  ofGateway,
} from "../domain/alarm.ts";
import {
  type AlarmInstance,
  type AlarmMoment,
  type AlarmStep,
  type AlarmTransition,
  acknowledgeAlarm,
  alarmDueAtMs,
  commentAlarm,
  dueAlarm,
  restAlarm,
  stateAlarm,
} from "../domain/alarm-instance.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import {
  type AlarmFollower,
  type AlarmPages,
  createAlarmFollower,
  createAlarmPages,
  createDueAlarms,
} from "./alarm-pages.ts";

/** The registry of all alarms of the fleet and the gateway: active, acknowledged and returned ones. */
export interface AlarmRegistry extends AlarmConditionSink {
  /** Whether the condition was last set. */
  holds(source: AlarmSource, code: AlarmCode): boolean;
  /**
   * Raises and ends the alarms that are due.
   *
   * @returns the sources whose lists of alarms have changed since the last call, and what a restart must know
   */
  take(): {
    readonly sources: readonly AlarmSource[];
    readonly events: readonly FleetEvent[];
    /** Null: nothing has changed. */
    readonly changes: KeptChanges | null;
  };
  /** The alarms of a source, the most urgent first. */
  of(source: AlarmSource): readonly Alarm[];
  /** All alarms, the most urgent first. */
  all(): readonly Alarm[];
  /** All that a restart must know. */
  kept(): KeptAlarms;
  /** What another member of a cluster has, which leads. */
  readonly followed: FollowedAlarms;
}

/** Takes what the leader of a cluster has. */
interface FollowedAlarms extends Pick<AlarmFollower, "alarm"> {
  /** This member leads. The leaders before have used numbers up to `lastId`. */
  lead(lastId: number): void;
}

/** What differs for a member of a cluster. */
interface AlarmSharing {
  /** Another member leads: what is no alarm of this box alone begins and ends there. */
  isFollowing(): boolean;
}

/** The registry as a file keeps it. */
export interface KeptAlarms {
  readonly alarms: readonly Alarm[];
  readonly outOfService: readonly RobotId[];
  /** The number in the newest alarm id. */
  readonly lastId: number;
}

/** What has changed of the registry, for its file. */
export interface KeptChanges {
  /** By their ids; null: the alarm stands no more. */
  readonly alarms: ReadonlyMap<string, Alarm | null>;
  /** Null: the robot is in service again. */
  readonly outOfService: ReadonlyMap<RobotId, true | null>;
  readonly lastId: number;
}

/**
 * The conditions of these are found in memory, and begin anew with each run: those of an earlier run are
 * over.
 */
const ofOneRun: ReadonlySet<string> = new Set([
  "DUPLICATE_GATEWAY",
  "FOREIGN_MISSIONS",
  "CONVEYOR_NOT_STOPPED",
  ...alarmsOfCluster,
]);
const nothingNew = { sources: [], events: [], changes: null };
const LINK: AlarmCode = "FLEET_LINK_DOWN";
/** Alarms that follow from a lost link: one cause is one alarm. */
const followsFromLink: ReadonlySet<AlarmCode> = new Set(["ROBOT_LOST"]);

/** What has become of the alarms since the last `take`. */
interface News {
  readonly sources: Map<string, AlarmSource>;
  readonly events: FleetEvent[];
  readonly outOfService: Map<RobotId, true | null>;
}

function noNews(): News {
  return { sources: new Map(), events: [], outOfService: new Map() };
}

/**
 * @param kept the alarms that an earlier run has kept
 * @param eventId names an event
 * @param sharing absent: this gateway is the only one
 */
export function createAlarmRegistry(
  clock: Clock,
  kept: KeptAlarms,
  eventId: (transition: AlarmTransition) => string,
  sharing: AlarmSharing | null = null,
): AlarmRegistry {
  const pages = createAlarmPages();
  const outOfService = new Set(kept.outOfService);
  let news = noNews();
  let { lastId } = kept;
  const due = createDueAlarms(pages, LINK);
  let wasFollowing = false;
  for (const alarm of kept.alarms) pages.put(keptInstance(alarm, clock.monotonicMs()));

  const note = (source: AlarmSource) => void news.sources.set(alarmSourceKey(source), source);
  const report = (each: AlarmTransition) => void news.events.push(eventOf(each, moment(), eventId(each)));
  const moment = (): AlarmMoment => ({ nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });

  function settle(before: AlarmInstance, { instance, transition }: AlarmStep): void {
    if (instance === before) return;
    due.touch(before);
    if (instance !== null) pages.put(instance);
    else pages.remove(before);
    if ((instance?.alarm ?? null) !== before.alarm) note(before.source);
    if (transition !== null) report(transition);
  }

  const followed = createAlarmFollower(pages, clock, note, report);

  /** Whether it begins and ends with the leader's. */
  const isFollower = (alarm: Pick<Alarm, "code" | "source">) =>
    sharing?.isFollowing() === true && !isOfBox(alarm);

  function change(id: string, step: (instance: AlarmInstance, now: AlarmMoment) => AlarmStep): void {
    const instance = pages.withId(id);
    if (instance !== undefined) settle(instance, step(instance, moment()));
  }

  function nextId(code: AlarmCode): string {
    lastId = Math.max(lastId + 1, clock.nowMs());
    return `${code}-${lastId.toString(36)}`;
  }

  function settleDue(): void {
    const now = moment();
    for (const instance of due.take(now.monotonicMs)) {
      if (isFollower(instance)) continue;
      const isResting = isSuppressed(instance, outOfService, pages);
      const step = dueAlarm(instance, now, isResting, () => nextId(instance.code));
      settle(instance, step);
      const dueAtMs = step.instance === null || isResting ? null : alarmDueAtMs(step.instance);
      if (dueAtMs !== null) due.waitUntil(dueAtMs);
    }
  }

  return {
    followed: {
      alarm: followed.alarm,
      lead(newest) {
        lastId = Math.max(lastId, newest);
        due.touchAll();
        followed.end((code) => ofOneRun.has(code));
      },
    },
    state(source, code, condition) {
      const before = pages.find(source, code);
      if (before === null && !condition.holds) return;
      const step = stateAlarm(before, { code, source }, condition, moment());
      if (before !== null && step.instance !== null && isFollower(before))
        followed.condition(before, step.instance);
      else if (before !== null) settle(before, step);
      else if (step.instance !== null) {
        pages.put(step.instance);
        due.touch(step.instance);
      }
    },
    find: (id) => pages.withId(id)?.alarm ?? undefined,
    holds: (source, code) => pages.find(source, code)?.condition.holds === true,
    acknowledge: (id, by, comment) => change(id, (each, now) => acknowledgeAlarm(each, by, comment, now)),
    comment: (id, by, text) => change(id, (each, now) => commentAlarm(each, by, text, now)),
    putOutOfService(robotId, isOut) {
      const source: AlarmSource = { kind: "robot", robotId };
      due.touchAll();
      note(source);
      news.outOfService.set(robotId, isOut ? true : null);
      if (!isOut) return void outOfService.delete(robotId);
      outOfService.add(robotId);
      for (const instance of pages.instances(source)) settle(instance, restAlarm(instance, moment()));
    },
    isOutOfService: (robotId) => outOfService.has(robotId),
    take() {
      const isFollowing = sharing?.isFollowing() === true;
      if (isFollowing !== wasFollowing) due.touchAll();
      wasFollowing = isFollowing;
      settleDue();
      if (news.sources.size === 0 && news.events.length === 0) return nothingNew;
      const { sources, events, outOfService: inOrOut } = news;
      news = noNews();
      const changes = { alarms: pages.takeChanges(), outOfService: inOrOut, lastId };
      return { sources: [...sources.values()], events, changes };
    },
    of: pages.active,
    all: () => pages.active(),
    kept: () => ({ alarms: pages.active(), outOfService: [...outOfService], lastId }),
  };
}

function isSuppressed(
  { source, code }: AlarmInstance,
  outOfService: ReadonlySet<RobotId>,
  pages: AlarmPages,
): boolean {
  if (source.kind === "robot" && outOfService.has(source.robotId)) return true;
  if (!followsFromLink.has(code)) return false;
  const link = pages.find(ofGateway, LINK);
  return link !== null && (link.condition.holds || link.alarm?.isActive === true);
}

/** A kept alarm stays as it was until its condition is set or cleared. */
function keptInstance(alarm: Alarm, changedAtMs: number): AlarmInstance {
  const { code, source, text, severity, isActive } = alarm;
  const isOver = ofOneRun.has(code);
  const condition = { holds: isActive && !isOver, text, severity };
  return { code, source, condition, changedAtMs, isConfirmed: isOver, alarm, dismissed: null };
}

function eventOf({ from, to, alarm }: AlarmTransition, { nowMs }: AlarmMoment, eventId: string): FleetEvent {
  const { source } = alarm;
  const robotId = source.kind === "robot" ? source.robotId : "";
  return { kind: "alarm", eventId, robotId, atMs: nowMs, from, to, alarm };
}
