import type { BatteryLimits, VisibleAlarms } from "../contracts/alarms.ts";
import type { Stage } from "../contracts/stage.ts";
import { type Alarm, type AlarmSource, alarmSourceKey, byUrgency, ofGateway } from "../domain/alarm.ts";
import type { StateChange } from "../domain/change.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Live } from "../platform/live.ts";
import { createAlarmConditions } from "./alarm-conditions.ts";
import type { AlarmRegistry } from "./alarm-registry.ts";
import type { AlarmStore } from "./alarm-store.ts";

/** Adds the alarms that a batch raises or ends, and those that are due. */
export interface AlarmStage extends Stage {
  visibleAlarms(source: AlarmSource): VisibleAlarms;
  /** The limits have changed: evaluates every battery again. The next batch has the alarms. */
  reviewBatteries(values: readonly StateChange[]): void;
}

export function createAlarmStage(
  registry: AlarmRegistry,
  store: AlarmStore,
  battery: Live<BatteryLimits>,
): AlarmStage {
  const allAlarms = changeOfAll(registry);
  const conditions = createAlarmConditions(registry, battery);
  /** Robots and stations that were published: an empty list of alarms is published for each of them too. */
  const published = new Set<string>();
  /** The robot that stands at a station: its alarms are also the station's. */
  const visitors = new Map<string, RobotId | null>();
  /** Stations that a reload has removed. */
  const gone = new Set<string>();

  function visibleAlarms(source: AlarmSource): VisibleAlarms {
    switch (source.kind) {
      case "gateway":
        return { alarms: registry.all(), isOutOfService: false };
      case "robot":
        return { alarms: registry.of(source), isOutOfService: registry.isOutOfService(source.robotId) };
      case "station":
        return { alarms: atStation(source), isOutOfService: false };
    }
  }

  function changeOf(source: AlarmSource): StateChange {
    const { alarms, isOutOfService } = visibleAlarms(source);
    switch (source.kind) {
      case "gateway":
        return { kind: "alarms", alarms };
      case "robot":
        return { kind: "robot_alarms", robotId: source.robotId, alarms, isOutOfService };
      case "station":
        return { kind: "station_alarms", station: source.station, alarms };
    }
  }

  function atStation(source: Extract<AlarmSource, { kind: "station" }>): readonly Alarm[] {
    const visitor = visitors.get(source.station) ?? null;
    const others = visitor === null ? [] : registry.of({ kind: "robot", robotId: visitor });
    return [...registry.of(source), ...others].sort(byUrgency);
  }

  /**
   * Adds the source of a change that is published for the first time, and a station at which another robot
   * stands now.
   */
  function noteShown(change: StateChange, shown: AlarmSource[]): void {
    if (change.kind === "station_removed") {
      published.delete(alarmSourceKey({ kind: "station", station: change.station }));
      visitors.delete(change.station);
      gone.add(change.station);
    }
    const source = shownSource(change);
    if (source === null) return;
    if (!published.has(alarmSourceKey(source))) {
      published.add(alarmSourceKey(source));
      shown.push(source);
    }
    if (change.kind !== "station") return;
    gone.delete(change.station);
    const robotId = change.shown.sight.here?.robotId ?? null;
    if (visitors.get(change.station) === robotId) return;
    visitors.set(change.station, robotId);
    shown.push(source);
  }

  /** The stations at which one of these robots stands. */
  function stationsOf(sources: readonly AlarmSource[]): readonly AlarmSource[] {
    const robots = new Set(sources.map((source) => (source.kind === "robot" ? source.robotId : null)));
    return [...visitors].flatMap(([station, robotId]): AlarmSource[] =>
      robotId !== null && robots.has(robotId) ? [{ kind: "station", station }] : [],
    );
  }

  return {
    name: "alarms",
    apply(batch) {
      const shown: AlarmSource[] = [];
      for (const change of batch.changes) {
        conditions.handle(change);
        noteShown(change, shown);
      }
      for (const event of batch.events) conditions.handleEvent(event);
      const { sources, events, changes: kept } = registry.take();
      if (shown.length === 0 && sources.length === 0 && events.length === 0) return batch;
      if (kept !== null) store.keep(kept);
      const all = sources.length === 0 ? [] : [...stationsOf(sources), ofGateway];
      const changed = [...shown, ...sources, ...all];
      const changes = Array.from(bySource(changed).values(), (source) =>
        source.kind === "gateway" ? allAlarms : changeOf(source),
      );
      return { changes: [...batch.changes, ...changes], events: [...batch.events, ...events] };
    },
    view: (before) => ({
      snapshot() {
        const shown = before.snapshot();
        const sources = shown.map(shownSource).filter((source) => source !== null);
        const all = [...sources, ...registry.all().map(({ source }) => source), ofGateway];
        return [...shown, ...[...bySource(all).values()].map(changeOf)];
      },
      current(change) {
        if (change.kind === "station_alarms" && gone.has(change.station))
          return { kind: "station_removed", station: change.station };
        const source = alarmsOf(change);
        return source === null ? before.current(change) : changeOf(source);
      },
    }),
    visibleAlarms,
    reviewBatteries(values) {
      for (const change of values) if (change.kind === "battery") conditions.handle(change);
    },
  };
}

/** Delivery reads a change again when it hands it over: before that, nobody wants the list. */
function changeOfAll(registry: Pick<AlarmRegistry, "all">): StateChange {
  return {
    kind: "alarms",
    get alarms() {
      return registry.all();
    },
  };
}

function bySource(sources: readonly AlarmSource[]): ReadonlyMap<string, AlarmSource> {
  return new Map(sources.map((source) => [alarmSourceKey(source), source]));
}

/** The robot or station of a change; null for every other change. */
function shownSource(change: StateChange): AlarmSource | null {
  if (change.kind === "robot") return { kind: "robot", robotId: change.robotId };
  return change.kind === "station" ? { kind: "station", station: change.station } : null;
}

/** The source of the alarms in a change; null for every other change. */
function alarmsOf(change: StateChange): AlarmSource | null {
  switch (change.kind) {
    case "alarms":
      return ofGateway;
    case "robot_alarms":
      return { kind: "robot", robotId: change.robotId };
    case "station_alarms":
      return { kind: "station", station: change.station };
    default:
      return null;
  }
}
