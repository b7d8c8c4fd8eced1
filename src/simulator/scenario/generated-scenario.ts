import { readScenario, type Scenario } from "./scenario.ts";
import type { Family, ScenarioInput } from "./schema.ts";

const ROBOTS_PER_HALL = 50;
const CELLS_PER_ROW = 10;
const CELL_METERS = 5;
/**
 * At this speed, a side or a diagonal of a cell and the stop take a second: two mission messages for each
 * robot.
 */
const SPEED_METERS_PER_SECOND = 1.6;
const STOP_MS = 200;

/** Of every ten robots three are carts, five serve and two are base robots. */
const families: readonly Family[] = [
  "cart",
  "serve",
  "serve",
  "cart",
  "base",
  "serve",
  "cart",
  "serve",
  "base",
  "serve",
];

/** The options of a generated scenario. */
export interface GeneratedScenarioOptions {
  /** 1 to 100,000. */
  readonly robots: number;
  /** What the robots do by themselves; patrols make about two mission messages a second for each robot. */
  readonly lively: "none" | "missions" | "patrols";
  readonly seed: number;
}

/**
 * A scenario of any size without a file: distributor `acme`, location `plant-1`,
 * halls of 50 robots, each robot in a cell of its own with four stations a metre
 * apart; and `globex` with one robot of its own.
 */
export function generatedScenario({ robots, lively, seed }: GeneratedScenarioOptions): Scenario {
  const halls = Math.ceil(robots / ROBOTS_PER_HALL);
  const input: ScenarioInput = {
    seed,
    lively,
    rules: { patrolStopMs: STOP_MS, weightChangeMs: null, drivingPercentPerHour: 15 },
    distributors: [
      { id: "acme", apiKeys: [{ apiKey: "acme-gateway" }] },
      { id: "globex", apiKeys: [{ apiKey: "globex-gateway" }] },
    ],
    locations: [
      { id: "plant-1", distributor: "acme" },
      { id: "globex-plant", distributor: "globex" },
    ],
    maps: [
      ...Array.from({ length: halls }, (_, hall) =>
        hallMap(hall, Math.min(ROBOTS_PER_HALL, robots - hall * ROBOTS_PER_HALL)),
      ),
      {
        id: halls + 1,
        name: "Globex hall",
        distributor: "globex",
        vertices: cellVertices(0),
      },
    ],
    robots: [...Array.from({ length: robots }, (_, number) => robot(number)), globexRobot(robots, halls + 1)],
  };
  return readScenario(input);
}

function hallMap(hall: number, cells: number): ScenarioInput["maps"][number] {
  return {
    id: hall + 1,
    name: `Hall ${hall + 1}`,
    distributor: "acme",
    vertices: Array.from({ length: cells }, (_, cell) => cellVertices(cell)).flat(),
  };
}

/** A home and a charger beside a square of four stations. */
function cellVertices(cell: number): ScenarioInput["maps"][number]["vertices"] {
  const x = (cell % CELLS_PER_ROW) * CELL_METERS;
  const y = Math.floor(cell / CELLS_PER_ROW) * CELL_METERS;
  const name = String(cell + 1).padStart(2, "0");
  const firstId = cell * 10;
  const corners = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ] as const;
  return [
    ...corners.map(([dx, dy], at) => ({
      id: firstId + at + 1,
      code: `S${name}-${at + 1}`,
      alias: `Station ${name}-${at + 1}`,
      x: x + dx,
      y: y + dy,
      kind: "station" as const,
    })),
    { id: firstId + 5, code: `H${name}`, alias: `Home ${name}`, x: x + 2, y, kind: "home" as const },
    {
      id: firstId + 6,
      code: `D${name}`,
      alias: `Charger ${name}`,
      x: x + 2,
      y: y + 1,
      kind: "charger" as const,
    },
  ];
}

function robot(number: number): ScenarioInput["robots"][number] {
  const family = families[number % families.length] ?? "cart";
  const cell = String((number % ROBOTS_PER_HALL) + 1).padStart(2, "0");
  return {
    id: `${family}-${String(number + 1).padStart(4, "0")}`,
    amrId: number + 1,
    family,
    location: "plant-1",
    map: Math.floor(number / ROBOTS_PER_HALL) + 1,
    home: `H${cell}`,
    dock: `D${cell}`,
    speedMetersPerSecond: SPEED_METERS_PER_SECOND,
    batteryPercent: 40 + ((number * 7) % 60),
  };
}

function globexRobot(robots: number, map: number): ScenarioInput["robots"][number] {
  return { id: "globex-01", amrId: robots + 1, family: "cart", location: "globex-plant", map, home: "H01" };
}
