import { changeKey, type StateChange } from "../../domain/change.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Log } from "../../platform/log.ts";
import { nodeName } from "./node-name.ts";
import type { KnownRobot } from "./options.ts";
import type { RobotChange, RobotTags } from "./robot-tags.ts";

/** Building a robot's nodes takes some milliseconds: at most so long at a time, then everybody else has a turn. */
const SLICE_MS = 8;
/**
 * Robots that are heard of for the first time come by the hundred, just when streams are opened: their slices
 * leave twice as long to everybody else. Those known before are built first, and nobody is let in until they are.
 */
const REST_FACTOR = 2;

/** Makes the nodes of one robot. */
type BuildRobot = (name: string, robot: KnownRobot) => RobotTags;

/**
 * The robots that have nodes or are about to. Changes of a robot whose nodes are not built yet wait, the
 * newest of each value, so that nothing is shown late and nothing grows.
 */
export interface FleetSpace {
  /**
   * Builds `known` robots, heard of or not, and resolves when they have nodes, or after `close`. Each other robot
   * follows when it is first heard of.
   */
  open(known: readonly KnownRobot[], build: BuildRobot): Promise<void>;
  close(): void;
  apply(change: Exclude<StateChange, { kind: "hold_all" }>): void;
  /** Robots with nodes. */
  robots(): Iterable<RobotTags>;
  readonly robotCount: number;
  readonly waitingCount: number;
  /** Robots refused because there were too many. */
  readonly refusedCount: number;
}

interface WaitingRobot {
  readonly robot: KnownRobot;
  readonly changes: Map<string, RobotChange>;
}

/** Makes the space; robots that are heard of before it is opened wait. */
export function createFleetSpace(maxRobots: number, log: Log): FleetSpace {
  const built = new Map<RobotId, RobotTags>();
  let waiting = new Map<RobotId, WaitingRobot>();
  const refused = new Set<RobotId>();
  const names = new Set<string>();
  let refusedCount = 0;
  let build: BuildRobot | null = null;
  let slice: NodeJS.Timeout | null = null;
  let aliases: ReadonlySet<string> = new Set();
  let onKnownBuilt: (() => void) | null = null;

  function schedule(restMs: number): void {
    if (slice === null && build !== null && waiting.size > 0) slice = setTimeout(buildSlice, restMs);
  }

  function buildSlice(): void {
    slice = null;
    const fromMs = performance.now();
    let tookMs = 0;
    for (const [robotId, { robot, changes }] of waiting) {
      if (build === null) return;
      waiting.delete(robotId);
      const tags = build(freeName(robot), robot);
      built.set(robotId, tags);
      for (const change of changes.values()) tags.apply(change);
      tookMs = performance.now() - fromMs;
      if (tookMs > SLICE_MS) break;
    }
    if (waiting.size === 0) settleKnown();
    schedule(onKnownBuilt === null ? tookMs * REST_FACTOR : 0);
  }

  function settleKnown(): void {
    onKnownBuilt?.();
    onKnownBuilt = null;
  }

  /** An alias is its robot's own; an id that looks like another robot's alias steps aside. */
  function freeName(robot: KnownRobot): string {
    let name = robot.alias ?? nodeName(robot.robotId);
    if (robot.alias === null && aliases.has(name)) name = `${name}~id`;
    while (names.has(name)) name = `${name}~`;
    names.add(name);
    return name;
  }

  function expect(robotId: RobotId): WaitingRobot | null {
    const before = waiting.get(robotId);
    if (before !== undefined) return before;
    if (built.size + waiting.size >= maxRobots) {
      refuse(robotId);
      return null;
    }
    const robot: KnownRobot = { robotId, alias: null, number: null, family: "unknown", conveyorIndexes: [] };
    const entry = { robot, changes: new Map() };
    waiting.set(robotId, entry);
    schedule(0);
    return entry;
  }

  function refuse(robotId: RobotId): void {
    if (refused.has(robotId)) return;
    if (refused.size === 0) log.error({ maxRobots }, "too many robots: the others are not shown on OPC UA");
    if (refused.size < maxRobots) refused.add(robotId);
    refusedCount += 1;
  }

  return {
    async open(known, builder) {
      const early = waiting;
      waiting = new Map();
      aliases = new Set(known.flatMap((robot) => robot.alias ?? []));
      for (const robot of known) {
        if (waiting.size === maxRobots) refuse(robot.robotId);
        else waiting.set(robot.robotId, { robot, changes: early.get(robot.robotId)?.changes ?? new Map() });
      }
      for (const [robotId, { changes }] of early) {
        const entry = expect(robotId);
        for (const [key, change] of changes) entry?.changes.set(key, change);
      }
      build = builder;
      if (waiting.size === 0) return;
      await new Promise<void>((resolve) => {
        onKnownBuilt = resolve;
        schedule(0);
      });
    },
    close() {
      build = null;
      if (slice !== null) clearTimeout(slice);
      slice = null;
      settleKnown();
    },
    apply(change) {
      if (change.kind === "task_chain" || change.kind === "task_chain_evicted") return;
      const tags = built.get(change.robotId);
      if (tags !== undefined) tags.apply(change);
      // A hold alone is no sign that there is such a robot.
      else if (change.kind !== "hold" || waiting.has(change.robotId))
        expect(change.robotId)?.changes.set(changeKey(change), change);
    },
    robots: () => built.values(),
    get robotCount() {
      return built.size;
    },
    get waitingCount() {
      return waiting.size;
    },
    get refusedCount() {
      return refusedCount;
    },
  };
}
