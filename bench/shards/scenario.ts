import type { ScenarioInput } from "../../src/simulator/scenario/schema.ts";

/** The locations, each with as many robots as the other. */
export const halls = ["hall-1", "hall-2"] as const;

const CELL_METERS = 5;
const CELLS_PER_ROW = 25;
/** A side of a cell and the stop take six seconds. */
const SPEED_METERS_PER_SECOND = 0.2;
const STOP_MS = 1_000;

/** Carts that go around, each in a cell of its own. */
export function scenarioOf(robotsOfHall: number): ScenarioInput {
  return {
    lively: "patrols",
    rules: { patrolStopMs: STOP_MS, traverseStopMs: STOP_MS, weightChangeMs: null },
    distributors: [{ id: "acme", apiKeys: [{ apiKey: "acme-gateway" }] }],
    locations: halls.map((id) => ({ id, distributor: "acme" })),
    maps: halls.map((name, at) => ({
      id: at + 1,
      name,
      distributor: "acme",
      vertices: Array.from({ length: robotsOfHall }, (_, cell) => verticesOf(cell)).flat(),
    })),
    robots: halls.flatMap((location, at) =>
      Array.from({ length: robotsOfHall }, (_, cell) => ({
        id: `${location}-${cell + 1}`,
        amrId: at * robotsOfHall + cell + 1,
        family: "cart" as const,
        location,
        map: at + 1,
        home: `H${cell}`,
        speedMetersPerSecond: SPEED_METERS_PER_SECOND,
      })),
    ),
  };
}

function verticesOf(cell: number): ScenarioInput["maps"][number]["vertices"] {
  const x = (cell % CELLS_PER_ROW) * CELL_METERS;
  const y = Math.floor(cell / CELLS_PER_ROW) * CELL_METERS;
  const corners = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ] as const;
  return [
    ...corners.map(([dx, dy], at) => ({
      id: cell * 10 + at + 1,
      code: `S${cell}-${at}`,
      x: x + dx,
      y: y + dy,
      kind: "station" as const,
    })),
    { id: cell * 10 + 5, code: `H${cell}`, x: x + 2, y, kind: "home" as const },
  ];
}
