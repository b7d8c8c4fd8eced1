import type { AlarmConditionSink } from "../contracts/alarms.ts";
import {
  type Alarm,
  type AlarmCode,
  type AlarmSource,
  alarmSourceKey,
  byUrgency,
  ofGateway,
} from "../domain/alarm.ts";
import {
  type AlarmLife,
  type AlarmMoment,
  type AlarmStep,
  type AlarmTransition,
  acknowledgeAlarm,
  alarmDueAtMs,
  dueAlarm,
  restAlarm,
  stateAlarm,
} from "../domain/alarm-life.ts";
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
const ofOneRun: ReadonlySet<AlarmCode> = new Set([
  "DUPLICATE_GATEWAY",
  "FOREIGN_MISSIONS",
  "CONVEYOR_NOT_STOPPED",
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
  for (const alarm of kept.alarms) pages.put(keptLife(alarm, clock.monotonicMs()));

  const moment = (): AlarmMoment => ({ nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });

  function settle(before: AlarmLife, { life, transition }: AlarmStep): void {
    if (life === before) return;
    isDirty = true;
    if (life !== null) pages.put(life);
    else pages.remove(before);
    if ((life?.alarm ?? null) !== before.alarm) changed.set(alarmSourceKey(before.source), before.source);
    if (transition !== null) events.push(eventOf(transition, moment(), nextEventId()));
  }

  function nextId(code: AlarmCode): string {
    lastId = Math.max(lastId + 1, clock.nowMs());
    return `${code}-${lastId.toString(36)}`;
  }

  function isSuppressed({ source, code }: AlarmLife): boolean {
    if (source.kind === "robot" && outOfService.has(source.robotId)) return true;
    if (!followsFromLink.has(code)) return false;
    const link = pages.find(ofGateway, "FLEET_LINK_DOWN");
    return link !== null && (link.condition.holds || link.alarm?.isActive === true);
  }

  function settleDue(now: AlarmMoment): void {
    isDirty = false;
    nextDueMs = Number.POSITIVE_INFINITY;
    for (const life of pages.lives()) {
      const isResting = isSuppressed(life);
      const step = dueAlarm(life, now, isResting, () => nextId(life.code));
      settle(life, step);
      const dueAtMs = step.life === null || isResting ? null : alarmDueAtMs(step.life);
      if (dueAtMs !== null) nextDueMs = Math.min(nextDueMs, dueAtMs);
    }
  }

  return {
    state(source, code, condition) {
      const before = pages.find(source, code);
      if (before === null && !condition.holds) return;
      const step = stateAlarm(before, { code, source }, condition, moment());
      if (before !== null) settle(before, step);
      else if (step.life !== null) {
        pages.put(step.life);
        isDirty = true;
      }
    },
    find: (id) => pages.active().find((alarm) => alarm.id === id),
    holds: (source, code) => pages.find(source, code)?.condition.holds === true,
    acknowledge(id, by) {
      const life = pages.lives().find(({ alarm }) => alarm?.id === id);
      if (life !== undefined) settle(life, acknowledgeAlarm(life, by, moment()));
    },
    putOutOfService(robotId, isOut) {
      const source: AlarmSource = { kind: "robot", robotId };
      isDirty = true;
      changed.set(alarmSourceKey(source), source);
      if (!isOut) outOfService.delete(robotId);
      else outOfService.add(robotId);
      if (!isOut) return;
      for (const life of pages.lives(source)) settle(life, restAlarm(life, moment()));
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
function keptLife(alarm: Alarm, changedAtMs: number): AlarmLife {
  const { code, source, text, severity, isActive } = alarm;
  const isOver = ofOneRun.has(code);
  const condition = { holds: isActive && !isOver, text, severity };
  return { code, source, condition, changedAtMs, isStated: isOver, alarm, dismissed: null };
}

function eventOf({ from, to, alarm }: AlarmTransition, { nowMs }: AlarmMoment, eventId: string): FleetEvent {
  const { source } = alarm;
  const robotId = source.kind === "robot" ? source.robotId : "";
  return { kind: "alarm", eventId, robotId, atMs: nowMs, from, to, alarm };
}

/** Alarms with their conditions, by source and code. */
export interface AlarmPages {
  find(source: AlarmSource, code: AlarmCode): AlarmLife | null;
  put(life: AlarmLife): void;
  remove(life: AlarmLife): void;
  /** A copy: its entries may be put and removed meanwhile. */
  lives(source?: AlarmSource): readonly AlarmLife[];
  /** The alarms of one source or of all, the most urgent first. */
  active(source?: AlarmSource): readonly Alarm[];
}

function createAlarmPages(): AlarmPages {
  const pages = new Map<string, Map<AlarmCode, AlarmLife>>();

  function lives(source?: AlarmSource): readonly AlarmLife[] {
    if (source !== undefined) return [...(pages.get(alarmSourceKey(source))?.values() ?? [])];
    return Array.from(pages.values(), (page) => [...page.values()]).flat();
  }

  return {
    // It runs for every message. Reading the size of an empty map is cheaper than making a key.
    find: (source, code) =>
      pages.size === 0 ? null : (pages.get(alarmSourceKey(source))?.get(code) ?? null),
    put(life) {
      const key = alarmSourceKey(life.source);
      const page = pages.get(key);
      if (page === undefined) pages.set(key, new Map([[life.code, life]]));
      else page.set(life.code, life);
    },
    remove({ source, code }) {
      const key = alarmSourceKey(source);
      const page = pages.get(key);
      page?.delete(code);
      if (page?.size === 0) pages.delete(key);
    },
    lives,
    active: (source) =>
      lives(source)
        .map(({ alarm }) => alarm)
        .filter((alarm) => alarm !== null)
        .sort(byUrgency),
  };
}
