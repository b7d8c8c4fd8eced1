import { type Clock, every } from "../../platform/clock.ts";
import type { Incident, Liveliness, Rules, WorldSpec } from "../scenario/schema.ts";
import { createBatteryRules } from "./battery.ts";
import { type ChainOrders, createChainOrders } from "./chain-orders.ts";
import { createChainRun } from "./chain-run.ts";
import { createAgenda, type WorldChange, type WorldContext } from "./context.ts";
import { type ConveyorRules, createConveyorRules } from "./conveyor-rules.ts";
import { createIncidents } from "./incidents.ts";
import { enliven } from "./lively.ts";
import { createMap, type FleetMap } from "./map.ts";
import { createMissionQueue, type MissionQueue } from "./mission-queue.ts";
import { createMissionRun } from "./mission-run.ts";
import { createMotion, createTravel } from "./motion.ts";
import { seededRandom } from "./random.ts";
import { createRecord, type WorldRecord } from "./record.ts";
import { createRobot, type Robot } from "./robot.ts";

/**
 * The robots of a scenario and their rules: no input or output, no time but that of `advance`, and no random
 * source but the seed's.
 */
export interface World {
  readonly rules: Rules;
  readonly robots: ReadonlyMap<string, Robot>;
  readonly robotsByAmrId: ReadonlyMap<number, Robot>;
  readonly maps: ReadonlyMap<number, FleetMap>;
  /** Owner of each location, by its id. */
  readonly locations: ReadonlyMap<string, string>;
  readonly record: WorldRecord;
  readonly missions: MissionQueue;
  readonly conveyors: ConveyorRules;
  readonly chains: ChainOrders;
  /** World time in milliseconds since 1970. */
  nowMs(): number;
  /** Lets time pass, and runs everything that is due. */
  advance(toMs: number): void;
  /** Causes an incident of a robot. Throws for a robot that the world does not have. */
  happen(incident: Incident): void;
  /** Sets what robots do by themselves from now on. */
  setLively(lively: Liveliness): void;
  /**
   * Calls `listener` at once after each change; it reads the new state and gives no commands. Offline robots
   * report nothing. The returned function ends it.
   */
  onChange(listener: (change: WorldChange) => void): () => void;
}

/** A world as it begins at `startMs`, whose record keeps at least `recordCapacity` entries. */
export function createWorld(spec: WorldSpec, startMs: number, recordCapacity: number): World {
  const agenda = createAgenda(startMs);
  const record = createRecord(agenda.nowMs, recordCapacity);
  const listeners = new Set<(change: WorldChange) => void>();
  const locations = new Map(spec.locations.map(({ id, distributor }) => [id, distributor]));
  const maps = new Map(spec.maps.map((map) => [map.id, createMap(map)]));
  const robots = populate(spec, maps, locations, startMs);

  const notify = (change: WorldChange) => {
    for (const listener of listeners) listener(change);
  };
  const context: WorldContext = {
    agenda,
    random: seededRandom(spec.seed),
    rules: spec.rules,
    robots,
    record,
    changed(change) {
      stamp(change, agenda.nowMs());
      if (change.kind === "chain" || change.kind === "presence" || change.robot.online) notify(change);
    },
  };

  const motion = createMotion(context);
  const onFree = (robot: Robot) => chains.offer(robot);
  const batteries = createBatteryRules(context, (robot) => incidents.runFlat(robot));
  const travel = createTravel(context, motion, batteries);
  const conveyors = createConveyorRules(context);
  const run = createMissionRun(context, motion, travel, onFree);
  const missions = createMissionQueue(context, run);
  const chains = createChainOrders(
    context,
    motion,
    createChainRun(context, motion, travel, conveyors, onFree),
  );
  const incidents = createIncidents({
    world: context,
    motion,
    batteries,
    conveyors,
    run,
    missions,
    chains,
    notify,
  });
  const lively = enliven(context, missions, conveyors, incidents);

  lively.set(spec.lively);
  for (const { afterMs, incident } of spec.incidents) agenda.after(afterMs, () => incidents.cause(incident));

  return {
    rules: spec.rules,
    robots,
    robotsByAmrId: new Map([...robots.values()].map((robot) => [robot.amrId, robot])),
    maps,
    locations,
    record,
    missions,
    conveyors,
    chains,
    nowMs: agenda.nowMs,
    advance: agenda.advance,
    happen: incidents.cause,
    setLively: lively.set,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function populate(
  spec: WorldSpec,
  maps: ReadonlyMap<number, FleetMap>,
  locations: ReadonlyMap<string, string>,
  nowMs: number,
): Map<string, Robot> {
  return new Map(
    spec.robots.map((robot) => {
      const map = maps.get(robot.map);
      const distributor = locations.get(robot.location);
      if (map === undefined) throw new Error(`robot ${robot.id}: there is no map ${robot.map}`);
      if (distributor === undefined)
        throw new Error(`robot ${robot.id}: there is no location ${robot.location}`);
      return [robot.id, createRobot(robot, distributor, map, nowMs)];
    }),
  );
}

/** A robot counts its mission events and its battery events, each in a sequence of its own. */
function stamp(change: WorldChange, nowMs: number): void {
  if (change.kind !== "mission" && change.kind !== "battery") return;
  const at = change.kind === "mission" ? change.robot.missionStamp : change.robot.batteryStamp;
  at.atMs = nowMs;
  at.sequence += 1;
}

/** Drives a world's time by a clock. */
export interface WorldDriver {
  /** Brings the world up to the present. */
  sync(): void;
  /** The wall time, in milliseconds since 1970, of a moment of the world. */
  wallMs(worldMs: number): number;
  /** Keeps the world up to now until the signal is aborted. */
  run(signal: AbortSignal): void;
}

/** Short beside all durations in the world, and cheap if nothing is due. */
const TICK_MS = 50;

/** Drives a world at `timeFactor` times the speed of the clock, from the moment of this call. */
export function createWorldDriver(world: World, clock: Clock, timeFactor: number): WorldDriver {
  const wallStartMs = clock.nowMs();
  const monotonicStartMs = clock.monotonicMs();
  const worldStartMs = world.nowMs();
  const sync = () => {
    const passedMs = clock.monotonicMs() - monotonicStartMs;
    world.advance(worldStartMs + passedMs * timeFactor);
  };
  return {
    sync,
    wallMs: (worldMs) => wallStartMs + (worldMs - worldStartMs) / timeFactor,
    run(signal) {
      every(clock, TICK_MS, signal, sync);
    },
  };
}
