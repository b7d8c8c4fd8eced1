import { readScenario, type Scenario } from "./scenario.ts";
import type { ScenarioInput } from "./schema.ts";

type VertexInput = ScenarioInput["maps"][number]["vertices"][number];

/**
 * The scenario without a file: a small plant of distributor `acme` with three carts, two serve robots and a
 * base robot on one map, and a robot of `globex`. `config/scenarios/plant.yaml` is the same in YAML, to begin
 * one's own with.
 */
export function defaultScenario(): Scenario {
  return readScenario(plant);
}

const stations: VertexInput[] = ["A", "B", "C", "D"].map((letter, at) => ({
  id: 1 + at,
  code: `ST-${letter}`,
  alias: `Station ${letter}`,
  x: 4 * at + 2,
  y: 8,
  theta: 1.57,
  kind: "station",
  docking: true,
}));

const tables: VertexInput[] = [1, 2, 3].map((number) => ({
  id: 10 + number,
  code: `TB-${number}`,
  alias: `Table ${number}`,
  x: 4 * number,
  y: 0,
  kind: "station",
}));

const aisle: VertexInput[] = [1, 2, 3, 4].map((number) => ({
  id: 20 + number,
  code: `WP-${number}`,
  x: 4 * number - 2,
  y: 4,
}));

const homes: VertexInput[] = [1, 2, 3, 4].map((number) => ({
  id: 30 + number,
  code: `HOME-${number}`,
  alias: `Home ${number}`,
  x: 18,
  y: 2 * number - 2,
  kind: "home",
}));

const chargers: VertexInput[] = [1, 2].map((number) => ({
  id: 40 + number,
  code: `DOCK-${number}`,
  alias: `Charger ${number}`,
  x: 0,
  y: 4 * number - 3,
  theta: 3.14,
  kind: "charger",
}));

const edges: [string, string][] = [
  ["ST-A", "WP-1"],
  ["ST-B", "WP-2"],
  ["ST-C", "WP-3"],
  ["ST-D", "WP-4"],
  ["TB-1", "WP-1"],
  ["TB-2", "WP-2"],
  ["TB-3", "WP-3"],
  ["WP-1", "WP-2"],
  ["WP-2", "WP-3"],
  ["WP-3", "WP-4"],
  ["WP-1", "DOCK-1"],
  ["WP-1", "DOCK-2"],
  ["WP-4", "HOME-1"],
  ["WP-4", "HOME-2"],
  ["WP-4", "HOME-3"],
  ["WP-4", "HOME-4"],
];

const plant: ScenarioInput = {
  distributors: [
    { id: "acme", apiKeys: [{ apiKey: "acme-gateway" }, { apiKey: "acme-second-client" }] },
    { id: "globex", apiKeys: [{ apiKey: "globex-gateway" }] },
  ],
  locations: [
    { id: "plant-1", distributor: "acme" },
    { id: "globex-plant", distributor: "globex" },
  ],
  maps: [
    {
      id: 1,
      name: "Plant 1",
      distributor: "acme",
      vertices: [...stations, ...tables, ...aisle, ...homes, ...chargers],
      edges,
    },
    {
      id: 2,
      name: "Globex hall",
      distributor: "globex",
      vertices: [
        { id: 1, code: "G-1", alias: "Gate 1", x: 0, y: 0, kind: "station" },
        { id: 2, code: "G-2", alias: "Gate 2", x: 6, y: 0, kind: "station" },
        { id: 3, code: "G-HOME", alias: "Globex home", x: 3, y: 3, kind: "home" },
      ],
    },
  ],
  robots: [
    {
      id: "cart-01",
      amrId: 101,
      family: "cart",
      location: "plant-1",
      map: 1,
      home: "HOME-1",
      dock: "DOCK-1",
    },
    {
      id: "cart-02",
      amrId: 102,
      family: "cart",
      location: "plant-1",
      map: 1,
      home: "HOME-2",
      dock: "DOCK-2",
      model: "horizontal-2",
      batteryPercent: 64,
    },
    {
      id: "cart-03",
      amrId: 103,
      family: "cart",
      location: "plant-1",
      map: 1,
      home: "HOME-3",
      dock: "DOCK-1",
      model: "vertical-3",
      notInstalled: [3],
      batteryPercent: 45,
    },
    {
      id: "serve-01",
      amrId: 201,
      family: "serve",
      location: "plant-1",
      map: 1,
      home: "TB-1",
      dock: "DOCK-2",
      payloadKg: 4,
    },
    {
      id: "serve-02",
      amrId: 202,
      family: "serve",
      location: "plant-1",
      map: 1,
      home: "TB-2",
      batteryPercent: 91,
    },
    {
      id: "base-01",
      amrId: 301,
      family: "base",
      location: "plant-1",
      map: 1,
      home: "HOME-4",
      speedMetersPerSecond: 1.5,
    },
    { id: "globex-01", amrId: 401, family: "cart", location: "globex-plant", map: 2, home: "G-HOME" },
  ],
};
