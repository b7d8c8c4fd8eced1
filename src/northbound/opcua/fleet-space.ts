import { changeKey, type StateChange } from "../../domain/change.ts";
import type { RobotId } from "../../domain/robot.ts";
import { type ChainBoard, createChainBoard } from "../../models/chain-board.ts";
import type { Cancel, Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { KnownRobot } from "./options.ts";
import type { ListedRobots } from "./robot-changes.ts";
import { createRobotNames } from "./robot-register.ts";
import type { RobotChange, RobotTags } from "./robot-tags.ts";

/** Makes the nodes of one robot, in two steps: its folder, and its content. */
export interface RobotNodes {
  /** The folder alone, so that a browse of all robots misses none. */
  list(name: string, robotId: RobotId): void;
  /** All nodes in the existing folder. */
  build(name: string, robot: KnownRobot): RobotTags;
  /** The listed robots, or those with missing nodes, have changed. */
  changed(): void;
}

export interface RobotCounts {
  /** Robots with a folder. */
  readonly listed: number;
  /** Robots with all their nodes. */
  readonly built: number;
  /** Robots whose nodes are missing. */
  readonly missing: number;
  /** How many of them have values that are not good. */
  readonly missingNotGood: number;
  /** Robots beyond the limit. */
  readonly refused: number;
}

/**
 * The robots that clients see. Each has its folder at once. The nodes in it are built in the background, in
 * slices, or as soon as a client asks for one of them. Changes of a robot with missing nodes wait, the newest
 * of each value, so that nothing is shown late and nothing grows.
 */
export interface FleetSpace extends ListedRobots {
  /** Lists `known` robots, seen or not. Each other robot follows when it is first seen. */
  open(known: readonly KnownRobot[], nodes: RobotNodes): void;
  /** Lists those of the configuration's robots that are not listed yet. */
  add(robots: readonly KnownRobot[]): void;
  close(): void;
  apply(
    change: Exclude<
      StateChange,
      { kind: "hold_all" | "map" | "station" | "station_removed" | "station_alarms" | "alarms" }
    >,
  ): void;
  /** Another station leases the robot, or none does. */
  leaseChanged(robotId: RobotId): void;
  readonly chains: ChainBoard;
  /** The names of robots whose nodes are missing. */
  readonly missing: ReadonlyMap<string, unknown>;
  /** Builds the nodes of the robot of this name now, if they are missing. */
  need(name: string): void;
  /** The name of a listed robot. */
  nameOf(robotId: RobotId): string | undefined;
  /** The robot of this name or id; with an empty name, of this number, unless it is 0. Builds its nodes. */
  find(name: string, number: number): RobotTags | undefined;
  counts(): RobotCounts;
}

type ListedRobot =
  | {
      readonly state: "missing";
      readonly robot: KnownRobot;
      readonly name: string;
      readonly changes: Changes;
    }
  | { readonly state: "built"; readonly robot: KnownRobot; readonly name: string; readonly tags: RobotTags };
type MissingRobot = Extract<ListedRobot, { state: "missing" }>;
/** Makes the space; robots that are seen before it is opened wait. */
export function createFleetSpace(maxRobots: number, clock: Clock, log: Log): FleetSpace {
  const listed = new Map<RobotId, ListedRobot>();
  const missing = new Map<string, MissingRobot>();
  const refused = createRefusedRobots(maxRobots, log);
  const early = createEarlyChanges(maxRobots, refused.add);
  const chains = createChainBoard();
  let missingNotGoodCount = 0;
  let nodes: RobotNodes | null = null;
  let names = createRobotNames([]);
  const pacer = createPacer(clock, buildNext);

  /** Returns whether there are more to build. */
  function buildNext(): boolean {
    const [first] = missing.values();
    build(first);
    return missing.size > 0;
  }

  function build(entry: MissingRobot | undefined): RobotTags | undefined {
    if (nodes === null || entry === undefined) return undefined;
    const { robot, name, changes } = entry;
    // First, because building looks up nodes as well.
    missing.delete(name);
    if (!isGood(changes)) missingNotGoodCount -= 1;
    const tags = nodes.build(name, robot);
    listed.set(robot.robotId, { state: "built", robot, name, tags });
    for (const change of changes.values()) tags.apply(change);
    nodes.changed();
    return tags;
  }

  function list(robot: KnownRobot, changes: Changes): void {
    if (nodes === null) return;
    if (listed.size >= maxRobots) {
      refused.add(robot.robotId);
      return;
    }
    const name = names.give(robot);
    nodes.list(name, robot.robotId);
    const entry: MissingRobot = { state: "missing", robot, name, changes };
    listed.set(robot.robotId, entry);
    missing.set(name, entry);
    if (!isGood(changes)) missingNotGoodCount += 1;
  }

  const listKnown = (robotId: RobotId, changes: Changes) =>
    list({ robotId, alias: null, number: null, family: "unknown", conveyorIndexes: [] }, changes);

  function showCounts(): void {
    nodes?.changed();
    pacer.wake();
  }

  return {
    open(known, made) {
      nodes = made;
      names = createRobotNames(known);
      for (const robot of known) list(robot, early.take(robot.robotId));
      for (const [robotId, changes] of early.takeAll()) listKnown(robotId, changes);
      showCounts();
    },
    add(robots) {
      names.keepAliases(robots);
      for (const robot of robots) if (!listed.has(robot.robotId)) list(robot, new Map());
      showCounts();
    },
    listed: (robotId) => listed.get(robotId)?.robot,
    isNamed: (name) => names.isGiven(name),
    room: () => maxRobots - listed.size,
    close() {
      nodes = null;
      missing.clear();
      pacer.stop();
    },
    apply(change) {
      if (change.kind === "task_chain" || change.kind === "task_chain_evicted") return chains.apply(change);
      if (nodes === null) return early.apply(change);
      const entry = listed.get(change.robotId);
      if (entry?.state === "built") entry.tags.apply(change);
      else if (entry?.state === "missing") missingNotGoodCount += keep(entry.changes, change);
      else if (!isOwn(change)) {
        listKnown(change.robotId, new Map([[changeKey(change), change]]));
        showCounts();
      }
    },
    leaseChanged: (robotId) => publishLease(listed.get(robotId)),
    chains,
    missing,
    need: (name) => void build(missing.get(name)),
    nameOf: (robotId) => listed.get(robotId)?.name,
    find(name, number) {
      const entry = findListed(listed.values(), name, number);
      return entry?.state === "missing" ? build(entry) : entry?.tags;
    },
    counts: () => ({
      listed: listed.size,
      built: listed.size - missing.size,
      missing: missing.size,
      missingNotGood: missingNotGoodCount,
      refused: refused.count(),
    }),
  };
}

/** A robot with missing nodes reads its lease when they are built. */
function publishLease(robot: ListedRobot | undefined): void {
  if (robot?.state === "built") robot.tags.leaseChanged();
}

/** Robots beyond the bound: counted, and logged once. */
function createRefusedRobots(maxRobots: number, log: Log) {
  const refused = new Set<RobotId>();
  let count = 0;
  return {
    add(robotId: RobotId): void {
      if (refused.has(robotId)) return;
      if (refused.size === 0) log.error({ maxRobots }, "too many robots: the others are not shown on OPC UA");
      if (refused.size < maxRobots) refused.add(robotId);
      count += 1;
    },
    count: () => count,
  };
}

function findListed(listed: Iterable<ListedRobot>, name: string, number: number): ListedRobot | undefined {
  for (const entry of listed) {
    const { robotId, number: robotNo } = entry.robot;
    const isNamed = name !== "" && (entry.name === name || robotId === name);
    if (isNamed || (name === "" && number !== 0 && robotNo === number)) return entry;
  }
  return undefined;
}

/** Keeps a change. Returns by how many robots more are not good: 1, 0 or -1. */
function keep(changes: Changes, change: RobotChange): number {
  const wasGood = isGood(changes);
  changes.set(changeKey(change), change);
  return Number(wasGood) - Number(isGood(changes));
}

/** Whether the robot's last known quality is good. */
function isGood(changes: Changes): boolean {
  for (const change of changes.values()) if (change.kind === "robot") return change.quality === "good";
  return false;
}

/** The newest change of each value of one robot, by `changeKey`. */
type Changes = Map<string, RobotChange>;

/** Changes of at most `maxRobots` robots that come before robots can be listed. */
export interface EarlyChanges {
  apply(change: RobotChange): void;
  /** Removes and returns those of a robot; empty if there are none. */
  take(robotId: RobotId): Changes;
  /** Removes and returns those of all robots. */
  takeAll(): ReadonlyMap<RobotId, Changes>;
}

/** A hold or an alarm alone does not show that the robot exists: the gateway has stored them. */
function isOwn({ kind }: RobotChange): boolean {
  return kind === "hold" || kind === "robot_alarms";
}

/** @param refuse is called with a robot beyond the limit */
function createEarlyChanges(maxRobots: number, refuse: (robotId: RobotId) => void): EarlyChanges {
  let early = new Map<RobotId, Changes>();
  return {
    apply(change) {
      let changes = early.get(change.robotId);
      if (changes === undefined) {
        if (isOwn(change)) return;
        if (early.size >= maxRobots) return refuse(change.robotId);
        changes = new Map();
        early.set(change.robotId, changes);
      }
      changes.set(changeKey(change), change);
    },
    take(robotId) {
      const changes = early.get(robotId) ?? new Map();
      early.delete(robotId);
      return changes;
    },
    takeAll() {
      const all = early;
      early = new Map();
      return all;
    },
  };
}

/** How long a turn of background work is, plus the step that it began. */
const TURN_MS = 8;
/** Other work that needs longer than this between two turns is busy. */
const BUSY_MS = 4;
/** Other work then has the loop for this long. */
const REST_MS = 16;

/** Does work in the background in turns, and pauses only while other work needs the event loop. */
export interface Pacer {
  /** There is work; harmless while it is being done. */
  wake(): void;
  stop(): void;
}

/** Makes it; `step` does a small part of the work, and returns whether there is more. It must not throw. */
function createPacer(clock: Clock, step: () => boolean): Pacer {
  let cancel: Cancel | null = null;

  function afterOthers(): void {
    const fromMs = clock.monotonicMs();
    const immediate = setImmediate(() => turn(clock.monotonicMs() - fromMs));
    cancel = () => clearImmediate(immediate);
  }

  function turn(othersTookMs: number): void {
    if (othersTookMs > BUSY_MS) {
      cancel = clock.after(REST_MS, () => turn(0));
      return;
    }
    const untilMs = clock.monotonicMs() + TURN_MS;
    let hasMore = step();
    while (hasMore && clock.monotonicMs() < untilMs) hasMore = step();
    if (hasMore) afterOthers();
    else cancel = null;
  }

  return {
    wake() {
      if (cancel === null) afterOthers();
    },
    stop() {
      cancel?.();
      cancel = null;
    },
  };
}
