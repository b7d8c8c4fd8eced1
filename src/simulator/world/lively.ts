import type { Family, Liveliness } from "../scenario/schema.ts";
import type { WorldContext } from "./context.ts";
import { type ConveyorRules, controlError } from "./conveyor-rules.ts";
import type { Incidents } from "./incidents.ts";
import { distanceMeters, type Target, targetOf } from "./map.ts";
import type { MissionKind, MissionOrder } from "./mission.ts";
import type { MissionQueue } from "./mission-queue.ts";
import { pick } from "./random.ts";
import { activeMission, isDriving, isFlat, type Robot } from "./robot.ts";

/** The owners of missions that no client of this interface started. */
const owners = ["touchscreen", "touchscreen", "fleet-manager"] as const;

const missionKinds: Readonly<Record<Family, readonly [MissionKind, ...MissionKind[]]>> = {
  base: ["base.navigate", "base.navigate-auto"],
  cart: ["cart.traverse", "cart.navigate", "cart.navigate-auto"],
  serve: ["serve.serving", "serve.bussing", "serve.navigate"],
};

/** A base robot has no patrol: it is sent on again each time it arrives. */
const patrolKinds: Readonly<Record<Family, MissionKind>> = {
  base: "base.navigate",
  cart: "cart.traverse-patrol",
  serve: "serve.hosting-patrol",
};

/** How long an idle robot waits for its next mission: from the first number to the second. */
const pausesMs = { missions: [4_000, 16_000], patrols: [50, 950] } as const;
/**
 * Staff swaps a battery below this, so that an unattended fleet does not run flat. An empty one stays: it was
 * emptied to see what becomes of it.
 */
const SWAP_BELOW_PERCENT = 10;
const PATROL_GOALS = 4;

/** Robots that go about by themselves. */
export interface Lively {
  set(lively: Liveliness): void;
}

/** Simulates other people and other clients, from the world's seed: one of them for each robot. */
export function enliven(
  world: WorldContext,
  missions: MissionQueue,
  conveyors: ConveyorRules,
  incidents: Incidents,
): Lively {
  let mode: Liveliness = "none";
  let round = 0;
  const nearHome = new Map<Robot, readonly Target[]>();

  const near = (robot: Robot) => {
    const known = nearHome.get(robot) ?? stationsNear(robot);
    nearHome.set(robot, known);
    return known;
  };

  const visit = (robot: Robot, ofRound: number) => {
    if (ofRound !== round || mode === "none") return;
    const [shortestMs, longestMs] = pausesMs[mode];
    world.agenda.after(shortestMs + world.random() * (longestMs - shortestMs), () => {
      if (ofRound !== round) return;
      keepCharged(robot);
      if (mode === "missions") moveLoad(robot);
      if (isIdle(robot)) send(robot);
      visit(robot, ofRound);
    });
  };

  const keepCharged = (robot: Robot) => {
    if (robot.battery.percent >= SWAP_BELOW_PERCENT || isFlat(robot)) return;
    incidents.cause({ robotId: robot.id, kind: "battery", percent: 100 });
  };

  /**
   * Staff at a cart that stands still: puts a load on or takes it off, and stops the motor at the next visit.
   */
  const moveLoad = (robot: Robot) => {
    const conveyor = robot.conveyors.find(({ installed, healthy }) => installed && healthy);
    if (conveyor === undefined || controlError(robot) !== undefined) return;
    const { index, motor, loaded } = conveyor;
    if (motor !== "stop") conveyors.command(robot, [{ index, motor: "stop" }], "touchscreen");
    else if (!isDriving(robot)) {
      conveyors.command(robot, [{ index, motor: loaded ? "ccw" : "cw" }], "touchscreen");
    }
  };

  const send = (robot: Robot) => {
    const owner = pick(world.random, owners);
    const stations = near(robot);
    const order = mode === "patrols" ? patrol(world, robot, stations) : errand(world, robot, stations);
    if (order !== undefined) missions.begin(robot, [order], owner, owner);
  };

  return {
    set(lively) {
      mode = lively;
      round += 1;
      for (const robot of world.robots.values()) visit(robot, round);
    },
  };
}

function isIdle(robot: Robot): boolean {
  return activeMission(robot) === undefined && robot.chainId === 0 && !isFlat(robot);
}

/** One to three stations in a random order. */
function errand(world: WorldContext, robot: Robot, stations: readonly Target[]): MissionOrder | undefined {
  const kind = pick(world.random, missionKinds[robot.family]);
  const goals = shuffled(world, stations).slice(0, 1 + Math.floor(world.random() * 3));
  return order(kind, goals);
}

/** Around the stations nearest to home, so that a thousand robots do not cross the whole map. */
function patrol(world: WorldContext, robot: Robot, stations: readonly Target[]): MissionOrder | undefined {
  const nearest = stations.slice(0, PATROL_GOALS);
  if (robot.family !== "base") return order(patrolKinds[robot.family], nearest);
  const { place } = robot.body;
  const elsewhere = nearest.filter((target) => target.x !== place.x || target.y !== place.y);
  return order(patrolKinds.base, shuffled(world, elsewhere));
}

/** The stations of a robot's map, the nearest to its home first. */
function stationsNear(robot: Robot): readonly Target[] {
  return robot.map.vertices
    .filter((vertex) => vertex.kind === "station")
    .map(targetOf)
    .sort((a, b) => distanceMeters(a, robot.home) - distanceMeters(b, robot.home));
}

function order(kind: MissionKind, goals: readonly Target[]): MissionOrder | undefined {
  if (goals.length === 0) return undefined;
  const single = kind.endsWith(".navigate");
  return { kind, targets: single ? goals.slice(0, 1) : goals };
}

function shuffled(world: WorldContext, targets: readonly Target[]): readonly Target[] {
  return targets
    .map((target) => ({ target, at: world.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ target }) => target);
}
