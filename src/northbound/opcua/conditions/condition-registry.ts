import type { Alarm, AlarmSource } from "../../../domain/alarm.ts";
import { isOver } from "../../../domain/alarm-instance.ts";
import { BoundedMap } from "../../../platform/bounded-map.ts";
import { type AcknowledgedAlarms, type EndedAlarm, MOST_ENDED } from "./acknowledged-alarms.ts";
import { type ConditionState, conditionKey, nextState } from "./condition-state.ts";
import type { AlarmRevision } from "./event-id.ts";

/** The conditions that follow from the alarms of the gateway. */
export interface ConditionRegistry {
  /** An alarm has changed. Returns the state of its condition; null if that or a later one is known. */
  note(alarm: Alarm): ConditionState | null;
  /** All alarms that stand now. Returns the conditions that have changed since, the earliest first. */
  follow(alarms: readonly Alarm[]): readonly ConditionState[];
  /** The keys of the conditions that are retained. */
  retained(): readonly string[];
  /** The condition of this key; null: it is not retained. */
  find(key: string): ConditionState | null;
  /**
   * The alarm that a client names by a state that it has seen. Null: there is no such alarm, it has occurred
   * again since, or it has ended long ago.
   */
  named(revision: AlarmRevision): NamedAlarm | null;
}

/** An alarm that an EventId names. */
export interface NamedAlarm {
  readonly alarm: Pick<Alarm, "id" | "code" | "source">;
  readonly isStanding: boolean;
  readonly isAcknowledged: boolean;
}

interface Condition {
  readonly alarms: readonly Alarm[];
  readonly state: ConditionState;
}

/**
 * @param first the alarms that stand at the start
 * @param acknowledged those that have ended, and are known after a restart
 * @param isOutOfService whether the alarms of a source rest, and so have ended
 */
export function createConditionRegistry(
  first: readonly Alarm[],
  acknowledged: AcknowledgedAlarms,
  isOutOfService: (source: AlarmSource) => boolean,
): ConditionRegistry {
  const conditions = new Map<string, Condition>();
  const standing = new Map<string, Alarm>();
  const ended = new BoundedMap<string, EndedAlarm>(MOST_ENDED);
  for (const alarm of acknowledged.before) ended.set(alarm.id, alarm);

  function end(alarm: Alarm): void {
    const { id, code, source, occurrences, revision } = alarm;
    const acknowledgedAtMs = alarm.acknowledged?.atMs ?? null;
    const over: EndedAlarm = { id, code, source, occurrences, revision, acknowledgedAtMs };
    ended.set(id, over);
    if (acknowledgedAtMs !== null) acknowledged.note(over);
  }

  function change(key: string, alarms: readonly Alarm[], gone: readonly Alarm[]): ConditionState {
    const state = nextState(alarms, gone, conditions.get(key)?.state ?? null);
    for (const alarm of alarms) standing.set(alarm.id, alarm);
    for (const alarm of gone) {
      standing.delete(alarm.id);
      end(alarm);
    }
    if (state.isRetained) conditions.set(key, { alarms, state });
    else conditions.delete(key);
    return state;
  }

  /** Those that stood before, and are not in the list. */
  function endedSince(alarms: readonly Alarm[], news: readonly Alarm[]): ReadonlySet<Alarm> {
    const first = news.filter(({ id }) => !standing.has(id));
    if (standing.size + first.length === alarms.length) return new Set();
    const ids = new Set(alarms.map(({ id }) => id));
    return new Set([...standing.values()].filter(({ id }) => !ids.has(id)));
  }

  function follow(alarms: readonly Alarm[]): readonly ConditionState[] {
    const news = alarms.filter((alarm) => standing.get(alarm.id) !== alarm);
    const over = endedSince(alarms, news);
    const found = byCondition(news);
    const changes: ConditionState[] = [];
    for (const key of new Set([...found.keys(), ...Array.from(over, conditionKey)])) {
      const before = conditions.get(key)?.alarms ?? [];
      const own = found.get(key) ?? [];
      const others = before.filter((alarm) => !over.has(alarm) && !own.some(({ id }) => id === alarm.id));
      const now = [...others, ...own];
      if (isSame(before, now)) continue;
      const gone = before.filter((alarm) => over.has(alarm));
      changes.push(change(key, now, gone.map(afterItsEnd)));
    }
    return changes.sort((a, b) => a.changedAtMs - b.changedAtMs);
  }

  follow(first);
  return {
    note(alarm) {
      const key = conditionKey(alarm);
      const before = ended.get(alarm.id) ?? standing.get(alarm.id);
      if (before !== undefined && before.revision >= alarm.revision) {
        // The list of alarms has told of the end before, but not of the acknowledgement.
        if (ended.has(alarm.id) && before.revision === alarm.revision) end(alarm);
        return null;
      }
      const others = (conditions.get(key)?.alarms ?? []).filter(({ id }) => id !== alarm.id);
      const hasEnded = isOver(alarm) || isOutOfService(alarm.source);
      return hasEnded ? change(key, others, [alarm]) : change(key, [...others, alarm], []);
    },
    follow,
    retained: () => [...conditions.keys()],
    find: (key) => conditions.get(key)?.state ?? null,
    named({ id, occurrence, revision }) {
      const open = standing.get(id);
      const over = open === undefined ? ended.get(id) : undefined;
      const alarm = open ?? over;
      if (alarm === undefined || alarm.occurrences !== occurrence || alarm.revision < revision) return null;
      const acknowledgedAtMs = open?.acknowledged?.atMs ?? over?.acknowledgedAtMs ?? null;
      return { alarm, isStanding: open !== undefined, isAcknowledged: acknowledgedAtMs !== null };
    },
  };
}

function byCondition(alarms: readonly Alarm[]): ReadonlyMap<string, readonly Alarm[]> {
  const found = new Map<string, Alarm[]>();
  for (const alarm of alarms) {
    const key = conditionKey(alarm);
    const others = found.get(key);
    if (others === undefined) found.set(key, [alarm]);
    else others.push(alarm);
  }
  return found;
}

function isSame(before: readonly Alarm[], now: readonly Alarm[]): boolean {
  if (before.length !== now.length) return false;
  const revisions = new Map(before.map(({ id, revision }) => [id, revision]));
  return now.every(({ id, revision }) => revisions.get(id) === revision);
}

/** An end that is no change of the alarm itself, as of a robot out of service, has a number too. */
function afterItsEnd(alarm: Alarm): Alarm {
  return { ...alarm, revision: alarm.revision + 1 };
}
