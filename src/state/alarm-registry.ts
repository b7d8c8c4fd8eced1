import type { AlarmConditionSink } from "../contracts/alarms.ts";
import {
  type Alarm,
  type AlarmCode,
  type AlarmSource,
  alarmSourceKey,
  alarmsOfCluster,
  byUrgency,
  ofGateway,
} from "../domain/alarm.ts";
import {
  type AlarmInstance,
  type AlarmMoment,
  type AlarmStep,
  type AlarmTransition,
  acknowledgeAlarm,
  alarmDueAtMs,
  dueAlarm,
  restAlarm,
  stateAlarm,
} from "../domain/alarm-instance.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";

/** The registry of all alarms of the fleet and the gateway: active, acknowledged and returned ones. */
export interface AlarmRegistry extends AlarmConditionSink {
  /** Whether the condition was last set. */
  holds(source: AlarmSource, code: AlarmCode): boolean;
  /**
   * Raises and ends the alarms that are due.
   *
   * @returns the sources whose lists of alarms have changed since the last call
   */
  take(): { readonly sources: readonly AlarmSource[]; readonly events: readonly FleetEvent[] };
  /** The alarms of a source, the most urgent first. */
  of(source: AlarmSource): readonly Alarm[];
  /** All alarms, the most urgent first. */
  all(): readonly Alarm[];
  /** All that a restart must know. */
  kept(): KeptAlarms;
}

/** The registry as a file keeps it. */
export interface KeptAlarms {
  readonly alarms: readonly Alarm[];
  readonly outOfService: readonly RobotId[];
  /** The number in the newest alarm id. */
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
const nothingNew = { sources: [], events: [] };
/** Alarms that follow from a lost link: one cause is one alarm. */
const followsFromLink: ReadonlySet<AlarmCode> = new Set(["ROBOT_LOST"]);

/**
 * @param kept the alarms that an earlier run has kept
 * @param nextEventId names an event
 */
export function createAlarmRegistry(
  clock: Clock,
  kept: KeptAlarms,
  nextEventId: () => string,
): AlarmRegistry {
  const pages = createAlarmPages();
  const outOfService = new Set(kept.outOfService);
  const changed = new Map<string, AlarmSource>();
  let events: FleetEvent[] = [];
  let { lastId } = kept;
  /** Whether something was set since time was last considered. */
  let isDirty = true;
  /** When time alone next changes an alarm, by the monotonic clock. */
  let nextDueMs = Number.POSITIVE_INFINITY;
  for (const alarm of kept.alarms) pages.put(keptInstance(alarm, clock.monotonicMs()));

  const moment = (): AlarmMoment => ({ nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });

  function settle(before: AlarmInstance, { instance, transition }: AlarmStep): void {
    if (instance === before) return;
    isDirty = true;
    if (instance !== null) pages.put(instance);
    else pages.remove(before);
    if ((instance?.alarm ?? null) !== before.alarm) changed.set(alarmSourceKey(before.source), before.source);
    if (transition !== null) events.push(eventOf(transition, moment(), nextEventId()));
  }

  function nextId(code: AlarmCode): string {
    lastId = Math.max(lastId + 1, clock.nowMs());
    return `${code}-${lastId.toString(36)}`;
  }

  function isSuppressed({ source, code }: AlarmInstance): boolean {
    if (source.kind === "robot" && outOfService.has(source.robotId)) return true;
    if (!followsFromLink.has(code)) return false;
    const link = pages.find(ofGateway, "FLEET_LINK_DOWN");
    return link !== null && (link.condition.holds || link.alarm?.isActive === true);
  }

  function settleDue(now: AlarmMoment): void {
    isDirty = false;
    nextDueMs = Number.POSITIVE_INFINITY;
    for (const instance of pages.instances()) {
      const isResting = isSuppressed(instance);
      const step = dueAlarm(instance, now, isResting, () => nextId(instance.code));
      settle(instance, step);
      const dueAtMs = step.instance === null || isResting ? null : alarmDueAtMs(step.instance);
      if (dueAtMs !== null) nextDueMs = Math.min(nextDueMs, dueAtMs);
    }
  }

  return {
    state(source, code, condition) {
      const before = pages.find(source, code);
      if (before === null && !condition.holds) return;
      const step = stateAlarm(before, { code, source }, condition, moment());
      if (before !== null) settle(before, step);
      else if (step.instance !== null) {
        pages.put(step.instance);
        isDirty = true;
      }
    },
    find: (id) => pages.active().find((alarm) => alarm.id === id),
    holds: (source, code) => pages.find(source, code)?.condition.holds === true,
    acknowledge(id, by) {
      const instance = pages.instances().find(({ alarm }) => alarm?.id === id);
      if (instance !== undefined) settle(instance, acknowledgeAlarm(instance, by, moment()));
    },
    putOutOfService(robotId, isOut) {
      const source: AlarmSource = { kind: "robot", robotId };
      isDirty = true;
      changed.set(alarmSourceKey(source), source);
      if (!isOut) outOfService.delete(robotId);
      else outOfService.add(robotId);
      if (!isOut) return;
      for (const instance of pages.instances(source)) settle(instance, restAlarm(instance, moment()));
    },
    isOutOfService: (robotId) => outOfService.has(robotId),
    take() {
      if (isDirty || clock.monotonicMs() >= nextDueMs) settleDue(moment());
      if (changed.size === 0 && events.length === 0) return nothingNew;
      const sources = [...changed.values()];
      changed.clear();
      const taken = events;
      events = [];
      return { sources, events: taken };
    },
    of: pages.active,
    all: () => pages.active(),
    kept: () => ({ alarms: pages.active(), outOfService: [...outOfService], lastId }),
  };
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

/** Alarms with their conditions, by source and code. */
export interface AlarmPages {
  find(source: AlarmSource, code: AlarmCode): AlarmInstance | null;
  put(instance: AlarmInstance): void;
  remove(instance: AlarmInstance): void;
  /** A copy: its entries may be put and removed meanwhile. */
  instances(source?: AlarmSource): readonly AlarmInstance[];
  /** The alarms of one source or of all, the most urgent first. */
  active(source?: AlarmSource): readonly Alarm[];
}

function createAlarmPages(): AlarmPages {
  const pages = new Map<string, Map<AlarmCode, AlarmInstance>>();

  function instances(source?: AlarmSource): readonly AlarmInstance[] {
    if (source !== undefined) return [...(pages.get(alarmSourceKey(source))?.values() ?? [])];
    return Array.from(pages.values(), (page) => [...page.values()]).flat();
  }

  return {
    // It runs for every message. Reading the size of an empty map is cheaper than making a key.
    find: (source, code) =>
      pages.size === 0 ? null : (pages.get(alarmSourceKey(source))?.get(code) ?? null),
    put(instance) {
      const key = alarmSourceKey(instance.source);
      const page = pages.get(key);
      if (page === undefined) pages.set(key, new Map([[instance.code, instance]]));
      else page.set(instance.code, instance);
    },
    remove({ source, code }) {
      const key = alarmSourceKey(source);
      const page = pages.get(key);
      page?.delete(code);
      if (page?.size === 0) pages.delete(key);
    },
    instances,
    active: (source) =>
      instances(source)
        .map(({ alarm }) => alarm)
        .filter((alarm) => alarm !== null)
        .sort(byUrgency),
  };
}
