import { readScenario, type Scenario } from "../../src/simulator/scenario/scenario.ts";
import type { ScenarioInput } from "../../src/simulator/scenario/schema.ts";

type RobotInput = ScenarioInput["robots"][number];

/** Robots that differ in what the interface's rules look at. */
const kinds = {
  cart: { family: "cart", model: "vertical-3", notInstalled: [3] },
  serve: { family: "serve", payloadKg: 4 },
  base: { family: "base" },
  /** A cart without a contact dock. */
  undocked: { family: "cart" },
} as const satisfies Record<string, Partial<RobotInput>>;

export type RobotKind = keyof typeof kinds;

/** How many tests may want a robot of each kind to themselves. */
const counts: Readonly<Record<RobotKind, number>> = { cart: 90, serve: 30, base: 60, undocked: 4 };
const AISLE_ROBOTS = 8;

/** A robot that no other test touches, and the places around it. */
export interface TestRobot {
  readonly id: string;
  readonly amrId: number;
  readonly mapId: number;
  /** Display names of three stations, 3, 4 and 5 m from home and out of the reach of other robots. */
  readonly stations: readonly [string, string, string];
  /** Their codes, as tasks name them. */
  readonly codes: readonly [string, string, string];
  readonly home: string;
  /** Its code. */
  readonly homeCode: string;
}

const CELL_METERS = 20;
const CELLS_PER_ROW = 20;

interface Placed extends TestRobot {
  readonly kind: RobotKind;
  readonly cell: number;
}

const placed: readonly Placed[] = (Object.keys(counts) as RobotKind[])
  .flatMap((kind) => Array.from({ length: counts[kind] }, (_, at) => ({ kind, id: `${kind}-${at + 1}` })))
  .map(({ kind, id }, cell) => ({
    kind,
    id,
    cell,
    amrId: 1_000 + cell,
    mapId: 1,
    stations: [`Station ${cell}-1`, `Station ${cell}-2`, `Station ${cell}-3`],
    codes: [`S${cell}-1`, `S${cell}-2`, `S${cell}-3`],
    home: `Home ${cell}`,
    homeCode: `H${cell}`,
  }));

/** Robots on a row of waypoints, 10 m apart: W1 is home, W5 a station. */
const onAisle: readonly TestRobot[] = Array.from({ length: AISLE_ROBOTS }, (_, at) => ({
  id: `aisle-${at + 1}`,
  amrId: 2_000 + at,
  mapId: 2,
  stations: ["W5", "W4", "W3"],
  codes: ["W5", "W4", "W3"],
  home: "W1",
  homeCode: "W1",
}));

/** Hands out each robot once, so that no test sees what another has left behind. */
export function createRobotPool(): (kind: RobotKind | "aisle") => TestRobot {
  const left = new Map<RobotKind | "aisle", TestRobot[]>([["aisle", [...onAisle]]]);
  for (const robot of placed) left.set(robot.kind, [...(left.get(robot.kind) ?? []), robot]);
  return (kind) => {
    const robot = left.get(kind)?.shift();
    if (robot === undefined) throw new Error(`no ${kind} robot is left: the plant wants more of them`);
    return robot;
  };
}

function cellOf({ kind, cell, id, amrId }: Placed): {
  readonly vertices: ScenarioInput["maps"][number]["vertices"];
  readonly robot: RobotInput;
} {
  const x = (cell % CELLS_PER_ROW) * CELL_METERS;
  const y = Math.floor(cell / CELLS_PER_ROW) * CELL_METERS;
  const station = (number: number) => ({
    id: cell * 10 + number,
    code: `S${cell}-${number}`,
    alias: `Station ${cell}-${number}`,
    x: x + 2 + number,
    y,
    kind: "station" as const,
  });
  return {
    vertices: [
      station(1),
      station(2),
      station(3),
      { id: cell * 10 + 4, code: `H${cell}`, alias: `Home ${cell}`, x, y, kind: "home" },
      { id: cell * 10 + 5, code: `D${cell}`, alias: `Charger ${cell}`, x, y: y + 2, kind: "charger" },
    ],
    robot: {
      id,
      amrId,
      ...kinds[kind],
      ...(kind === "undocked" ? {} : { dock: `D${cell}` }),
      location: "plant-1",
      map: 1,
      home: `H${cell}`,
      group: cell,
    },
  };
}

/** Distributor `acme` with every kind of robot, and `globex` with one that acme must not name. */
export function contractScenario(): Scenario {
  const cells = placed.map(cellOf);
  const waypoints = [1, 2, 3, 4, 5];
  const input: ScenarioInput = {
    confirmMs: 0,
    // Weight and charge change when a test says so.
    rules: { weightChangeMs: null, standingPercentPerHour: 0, drivingPercentPerHour: 0 },
    distributors: [
      { id: "acme", apiKeys: [{ apiKey: "acme-one" }, { apiKey: "acme-two" }] },
      { id: "globex", apiKeys: [{ apiKey: "globex-one" }] },
    ],
    locations: [
      { id: "plant-1", distributor: "acme" },
      { id: "annex", distributor: "acme" },
      { id: "globex-plant", distributor: "globex" },
    ],
    maps: [
      { id: 1, name: "Plant 1", distributor: "acme", vertices: cells.flatMap(({ vertices }) => vertices) },
      {
        id: 2,
        name: "Aisle",
        distributor: "acme",
        vertices: waypoints.map((number) => ({ id: number, code: `W${number}`, x: number * 10, y: 0 })),
        edges: waypoints.slice(1).map((number): [string, string] => [`W${number - 1}`, `W${number}`]),
      },
      {
        id: 3,
        name: "Globex hall",
        distributor: "globex",
        vertices: [
          { id: 1, code: "G1", x: 0, y: 0 },
          { id: 2, code: "G2", x: 3, y: 0 },
        ],
      },
    ],
    robots: [
      ...cells.map(({ robot }) => robot),
      ...onAisle.map(({ id, amrId }) => ({
        id,
        amrId,
        family: "base" as const,
        location: "plant-1",
        map: 2,
        home: "W1",
        group: amrId,
      })),
      { id: "annex-1", amrId: 3_001, family: "base", location: "annex", map: 2, home: "W1", group: 3_001 },
      { id: "annex-2", amrId: 3_002, family: "cart", location: "annex", map: 2, home: "W1", group: 3_002 },
      { id: "globex-01", amrId: 4_001, family: "cart", location: "globex-plant", map: 3, home: "G1" },
    ],
  };
  return readScenario(input);
}
