import { readScenario } from "../../../src/simulator/scenario/scenario.ts";
import type { ScenarioInput } from "../../../src/simulator/scenario/schema.ts";
import type { WorldChange } from "../../../src/simulator/world/context.ts";
import { type Target, targetOf } from "../../../src/simulator/world/map.ts";
import type { MissionKind, MissionOrder } from "../../../src/simulator/world/mission.ts";
import type { Robot } from "../../../src/simulator/world/robot.ts";
import { createWorld, type World } from "../../../src/simulator/world/world.ts";

/** The moment at which every harness begins. */
export const START_MS = Date.UTC(2026, 0, 1);

type RobotInput = ScenarioInput["robots"][number];

const stations = ["A", "B", "C", "D"].map((letter, at) => ({
  id: at + 1,
  code: `S-${letter}`,
  alias: `Station ${letter}`,
  x: 10 * at,
  y: 0,
  kind: "station" as const,
}));

const places = [
  { id: 11, code: "H1", x: 0, y: 10, kind: "home" as const },
  { id: 12, code: "H2", x: 10, y: 10, kind: "home" as const },
  { id: 13, code: "H3", x: 20, y: 10, kind: "home" as const },
  { id: 21, code: "DOCK", alias: "Charger", x: 30, y: 10, kind: "charger" as const },
];

const robots: readonly RobotInput[] = [
  {
    id: "cart",
    amrId: 1,
    family: "cart",
    location: "here",
    map: 1,
    home: "H1",
    dock: "DOCK",
    batteryPercent: 50,
  },
  { id: "serve", amrId: 2, family: "serve", location: "here", map: 1, home: "H2", batteryPercent: 50 },
  { id: "base", amrId: 3, family: "base", location: "here", map: 1, home: "H3", batteryPercent: 50 },
];

/** A harness without chance: every robot drives a metre a second, straight; nobody lends a hand. */
export function worldScenario(change: Partial<ScenarioInput> = {}): ScenarioInput {
  const { rules, ...others } = change;
  return {
    rules: {
      undockMs: 1_000,
      dockMs: 2_000,
      traverseStopMs: 5_000,
      patrolStopMs: 3_000,
      weightChangeMs: null,
      ...rules,
    },
    distributors: [{ id: "acme", apiKeys: [{ apiKey: "key" }] }],
    locations: [{ id: "here", distributor: "acme" }],
    maps: [{ id: 1, name: "Hall", distributor: "acme", vertices: [...stations, ...places] }],
    robots: [...robots],
    ...others,
  };
}

/** A harness with what tests ask of it. */
export interface WorldHarness {
  readonly world: World;
  /** Every change so far, in words: `cart mission running 0 navigating`. */
  readonly told: string[];
  robot(id: string): Robot;
  /** A mission to stations by their letters. */
  order(kind: MissionKind, ...letters: string[]): MissionOrder;
  begin(robotId: string, kind: MissionKind, ...letters: string[]): string;
  /** Lets time pass. */
  pass(durationMs: number): void;
  /** The states of a robot's missions, in order. */
  statuses(robotId: string): string[];
}

export function createWorldHarness(change: Partial<ScenarioInput> = {}): WorldHarness {
  const world = createWorld(readScenario(worldScenario(change)).world, START_MS, 1_000);
  const told: string[] = [];
  world.onChange((event) => told.push(describe(event)));

  const robot = (id: string): Robot => {
    const found = world.robots.get(id);
    if (found === undefined) throw new Error(`there is no robot ${id}`);
    return found;
  };
  const order: WorldHarness["order"] = (kind, ...letters) => ({
    kind,
    targets: letters.map((letter) => station(world, letter)),
  });
  return {
    world,
    told,
    robot,
    order,
    begin(robotId, kind, ...letters) {
      const [id = ""] = world.missions.begin(robot(robotId), [order(kind, ...letters)], "api", "test");
      return id;
    },
    pass: (durationMs) => world.advance(world.nowMs() + durationMs),
    statuses: (robotId) => robot(robotId).missions.map((mission) => mission.status),
  };
}

function station(world: World, letter: string): Target {
  const vertex = world.maps.get(1)?.byCode(`S-${letter}`);
  if (vertex === undefined) throw new Error(`there is no station ${letter}`);
  return targetOf(vertex);
}

function describe(change: WorldChange): string {
  switch (change.kind) {
    case "chain":
      return `chain ${change.chain.id} ${change.chain.status}: ${change.chain.tasks.map(({ status }) => status).join(" ")}`;
    case "mission": {
      const { robot } = change;
      const mission = robot.missions[robot.currentIndex];
      return `${robot.id} mission ${mission?.status} ${mission?.goalIndex} ${mission?.feedback}`;
    }
    case "battery": {
      const { id, battery } = change.robot;
      return `${id} battery ${battery.shownPercent} ${battery.state} ${battery.method}`;
    }
    case "conveyors": {
      const { id, conveyors } = change.robot;
      return `${id} conveyors ${conveyors.map(({ motor, loaded }) => `${motor} ${loaded ? "loaded" : "empty"}`).join(", ")}`;
    }
    case "presence":
      return `${change.robot.id} ${change.robot.online ? "online" : "offline"}`;
  }
}

/** The code of the Refusal that `attempt` throws; `OK` when it throws none. */
export function refusalOf(attempt: () => unknown): string {
  try {
    attempt();
    return "OK";
  } catch (error) {
    if (error instanceof Error && "code" in error) return String(error.code);
    throw error;
  }
}
