import type { Batch, Sink } from "../../../contracts/link.ts";
import type { Permits } from "../../../contracts/stations.ts";
import type { Alarm } from "../../../domain/alarm.ts";
import type { StateChange } from "../../../domain/change.ts";
import type { FleetEvent } from "../../../domain/event.ts";
import type { HoldState } from "../../../domain/hold.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { VisibleStation } from "../../../domain/station-visits.ts";
import type { FleetMap } from "../../../domain/update.ts";
import type { ChangeCollector, FloorChanges, RobotBoard } from "./robot-board.ts";
import type { RobotFacts } from "./robot-facts.ts";

/** A station's published value, and its number of alarms. */
export interface StationFacts {
  readonly shown: VisibleStation;
  readonly alarms: number;
}

/**
 * The state that the HTTP API shows: the newest values, fed like every northbound. It exists once, for the
 * web listener and the control socket.
 */
export interface Floor extends Sink {
  robots(): ReadonlyMap<RobotId, RobotFacts>;
  maps(): ReadonlyMap<number, FleetMap>;
  stations(): ReadonlyMap<string, StationFacts>;
  /** All alarms, the most urgent first. */
  alarms(): readonly Alarm[];
  holdOfAll(): HoldState;
  /** Checks what no change reports: online lists and permits. Call it once a second. */
  tick(): void;
  takeNews(): FloorChanges;
}

const notHeld: HoldState = { isHeld: false, by: [], isStored: true };

/** @param news collects the changes of `board` too */
export function createFloor(
  board: RobotBoard,
  news: ChangeCollector,
  permits: Pick<Permits, "permitOf">,
): Floor {
  const maps = new Map<number, FleetMap>();
  const stations = new Map<string, StationFacts>();
  const permitTexts = new Map<string, string>();
  let alarms: readonly Alarm[] = [];
  let holdOfAll = notHeld;

  function showStation(station: string, facts: StationFacts): void {
    stations.set(station, facts);
    news.now.stations.add(station);
    news.now.stationsRemoved.delete(station);
  }

  function take(change: StateChange): void {
    switch (change.kind) {
      case "station": {
        const alarmsBefore = stations.get(change.station)?.alarms ?? 0;
        showStation(change.station, { shown: change.shown, alarms: alarmsBefore });
        return;
      }
      case "station_alarms": {
        const known = stations.get(change.station);
        if (known !== undefined) showStation(change.station, { ...known, alarms: change.alarms.length });
        return;
      }
      case "station_removed":
        stations.delete(change.station);
        permitTexts.delete(change.station);
        news.now.stations.delete(change.station);
        news.now.stationsRemoved.add(change.station);
        return;
      case "alarms":
        alarms = change.alarms;
        news.now.alarms = true;
        return;
      case "hold_all":
        holdOfAll = change.hold;
        news.now.hold = true;
        return;
      case "map":
        if (change.map === null) maps.delete(change.mapId);
        else maps.set(change.mapId, change.map);
        news.now.maps.add(change.mapId);
        return;
      case "task_chain":
      case "task_chain_evicted":
        board.takeChain(change);
        return;
      default:
        board.take(change);
    }
  }

  function handle(event: FleetEvent): void {
    news.now.events.push(event);
    if (event.kind !== "lease") return;
    board.leaseChanged(event.robotId);
    if (stations.has(event.station)) news.now.stations.add(event.station);
  }

  return {
    write({ changes, events }: Batch) {
      for (const change of changes) take(change);
      for (const event of events) handle(event);
    },
    robots() {
      board.evaluate();
      return board.all();
    },
    maps: () => maps,
    stations: () => stations,
    alarms: () => alarms,
    holdOfAll: () => holdOfAll,
    tick() {
      board.lookAtList();
      for (const station of stations.keys()) {
        const permit = JSON.stringify(permits.permitOf(station));
        if (permitTexts.get(station) === permit) continue;
        permitTexts.set(station, permit);
        news.now.stations.add(station);
      }
    },
    takeNews() {
      board.evaluate();
      return news.take();
    },
  };
}
