import type { PlaceAges } from "../../../contracts/fleet-view.ts";
import type { Stations } from "../../../contracts/stations.ts";
import type { StateChange } from "../../../domain/change.ts";
import type { FleetEvent } from "../../../domain/event.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { createChainBoard } from "../../../models/chain-board.ts";
import type { Clock } from "../../../platform/clock.ts";
import {
  type Ages,
  applyChange,
  type ChangeOfRobot,
  createRobotFacts,
  evaluateIdleReason,
  type RobotFacts,
  type RobotKey,
  robotKeys,
} from "./robot-facts.ts";

type ChainChange = Extract<StateChange, { kind: "task_chain" | "task_chain_evicted" }>;

/** The newest values of all robots. */
export interface RobotBoard {
  take(change: ChangeOfRobot): void;
  takeChain(change: ChainChange): void;
  /** Another station leases the robot, or none does any more. */
  leaseChanged(robotId: RobotId): void;
  /** Evaluates again why robots stand: those with changes. */
  evaluate(): void;
  /** Reads which robots the newest online list has. */
  lookAtList(): void;
  all(): ReadonlyMap<RobotId, RobotFacts>;
}

export function createRobotBoard({
  places,
  stations,
  ages,
  clock,
  news,
}: {
  readonly places: Pick<PlaceAges, "isListed">;
  readonly stations: Pick<Stations, "leaseOf">;
  readonly ages: Ages;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly news: ChangeCollector;
}): RobotBoard {
  const robots = new Map<RobotId, RobotFacts>();
  const unevaluated = new Set<RobotFacts>();
  const listed = new Map<RobotId, boolean>();
  const chains = createChainBoard();

  function touch(facts: RobotFacts, keys: readonly RobotKey[]): void {
    unevaluated.add(facts);
    news.touch(facts.robotId, keys);
  }

  function factsOf(robotId: RobotId): RobotFacts {
    const known = robots.get(robotId);
    if (known !== undefined) return known;
    const facts = createRobotFacts(robotId, clock.nowMs(), clock.monotonicMs());
    // A lease may be older than the first message of the robot: it outlives a restart.
    facts.leasedBy = stations.leaseOf(robotId)?.station ?? null;
    robots.set(robotId, facts);
    // Present readers get all of it now: no snapshot will bring it to them.
    news.touch(robotId, robotKeys);
    return facts;
  }

  return {
    take(change) {
      const facts = factsOf(change.robotId);
      if ("observed" in change) ages.note(change.observed.stamp);
      touch(facts, applyChange(facts, change));
      if (change.kind !== "presence") return;
      chains.follow(change.robotId, change.observed.value.taskChainId, (chain) => {
        facts.chain = chain;
        touch(facts, ["task_chain"]);
      });
    },
    takeChain(change) {
      if (change.kind === "task_chain") ages.note(change.observed.stamp);
      chains.apply(change);
    },
    leaseChanged(robotId) {
      const facts = robots.get(robotId);
      if (facts === undefined) return;
      facts.leasedBy = stations.leaseOf(robotId)?.station ?? null;
      touch(facts, ["lease"]);
    },
    evaluate() {
      for (const facts of unevaluated) {
        if (evaluateIdleReason(facts, clock.nowMs(), clock.monotonicMs()))
          news.touch(facts.robotId, ["idle"]);
      }
      unevaluated.clear();
    },
    lookAtList() {
      for (const facts of robots.values()) {
        const isListed = places.isListed(facts.robotId);
        if (listed.get(facts.robotId) === isListed) continue;
        listed.set(facts.robotId, isListed);
        touch(facts, ["place"]);
      }
    },
    all: () => robots,
  };
}

/** The changes since they were last taken. */
export interface FloorChanges {
  readonly robots: Map<RobotId, Set<RobotKey>>;
  readonly stations: Set<string>;
  readonly stationsRemoved: Set<string>;
  readonly maps: Set<number>;
  alarms: boolean;
  hold: boolean;
  /** In order. */
  readonly events: FleetEvent[];
}

/** Collects changes until they are taken. */
export interface ChangeCollector {
  readonly now: FloorChanges;
  touch(robotId: RobotId, keys: Iterable<RobotKey>): void;
  take(): FloorChanges;
}

export function createChangeCollector(): ChangeCollector {
  let now = noNews();
  return {
    get now() {
      return now;
    },
    touch(robotId, keys) {
      const touched = now.robots.get(robotId) ?? new Set();
      for (const key of keys) touched.add(key);
      now.robots.set(robotId, touched);
    },
    take() {
      const taken = now;
      now = noNews();
      return taken;
    },
  };
}

function noNews(): FloorChanges {
  return {
    robots: new Map(),
    stations: new Set(),
    stationsRemoved: new Set(),
    maps: new Set(),
    alarms: false,
    hold: false,
    events: [],
  };
}
