import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parse, YAMLParseError } from "yaml";
import type { z } from "zod";
import { replaceFile } from "../../platform/kept-file.ts";
import { shippedFile } from "../../platform/plain-file.ts";
import { displayName } from "../world/map.ts";
import {
  type Fault,
  type ScenarioFile,
  type ScenarioInput,
  scenarioSchema,
  type WorldSpec,
} from "./schema.ts";

/** Credentials that the service knows. */
interface ApiKey {
  readonly apiKey: string;
  /** The distributor. */
  readonly scope: string;
  /** undefined: the simulator makes one up. */
  readonly secret: string | undefined;
}

/** The starting state of a simulated fleet service. */
export interface Scenario {
  readonly world: WorldSpec;
  readonly timeFactor: number;
  readonly confirmMs: number;
  readonly confirmWaitMs: number;
  readonly apiKeys: readonly ApiKey[];
  /** Faults, and how many real milliseconds after the start each is switched on. */
  readonly faults: ReadonlyArray<{ readonly afterMs: number; readonly fault: Fault }>;
}

/** A scenario that cannot be used, with every problem found. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  /** One line each, with its path. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`the scenario is not usable:\n  ${problems.join("\n  ")}`, options);
    this.problems = problems;
  }
}

/**
 * The scenario without a file: a small plant of distributor `acme` with three carts, two serve robots and a
 * base robot on one map, and a robot of `globex`.
 */
export function defaultScenario(): Scenario {
  return parseScenario(readFileSync(shippedFile("config/scenarios/plant.yaml"), "utf8"));
}

/** Reads a scenario file. Rejects with a ScenarioError that names every problem. */
export async function loadScenario(path: string): Promise<Scenario> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new ScenarioError([`${path}: cannot be read`], { cause });
  });
  return parseScenario(text);
}

/** A scenario from YAML text. Throws a ScenarioError. */
export function parseScenario(yaml: string): Scenario {
  try {
    return readScenario(parse(yaml));
  } catch (error) {
    if (error instanceof YAMLParseError) throw new ScenarioError([error.message], { cause: error });
    throw error;
  }
}

/** A scenario from a plain value: parsed YAML, or written in code. Throws a ScenarioError. */
export function readScenario(input: ScenarioInput | unknown): Scenario {
  const result = scenarioSchema.safeParse(input);
  if (!result.success) throw new ScenarioError(result.error.issues.map(describe));
  const problems = findProblems(result.data);
  if (problems.length > 0) throw new ScenarioError(problems);
  return toScenario(result.data);
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.length === 0 ? "(top)" : issue.path.join(".");
  return `${path}: ${issue.message}`;
}

const defaultGroup = { cart: 1, serve: 2, base: 3 } as const;

function toScenario(file: ScenarioFile): Scenario {
  const { seed, rules, locations, lively, incidents, timeFactor, confirmMs, confirmWaitMs } = file;
  const apiKeys = file.distributors.flatMap((distributor) =>
    distributor.apiKeys.map(({ apiKey, secret }) => ({ apiKey, scope: distributor.id, secret })),
  );
  const maps = file.maps.map((map) => ({
    ...map,
    vertices: map.vertices.map((vertex) => ({
      ...vertex,
      docking: vertex.docking || vertex.kind === "charger",
    })),
  }));
  const robots = file.robots.map((robot) => ({
    ...robot,
    group: robot.group ?? defaultGroup[robot.family],
    ip: robot.ip ?? `10.0.${(robot.amrId >> 8) & 255}.${robot.amrId & 255}`,
  }));
  return {
    world: { seed, rules, locations, maps, robots, lively, incidents },
    timeFactor,
    confirmMs,
    confirmWaitMs,
    apiKeys,
    faults: file.faults,
  };
}

/**
 * Writes a file whole or not at all, readable only by its owner if it is `secret`. Makes the folder if it is
 * missing.
 */
export function writeWhole(path: string, text: string, access: "secret" | "public"): Promise<void> {
  const mode = access === "secret" ? 0o600 : 0o644;
  // Two simulators may share one data folder.
  return replaceFile(path, text, { mode, isSynced: false }, `${path}.${process.pid}.new`);
}

/**
 * Problems that a schema cannot find: names that do not exist, names used twice, owners that do not match.
 * One line for each, with its path; empty: there are none.
 */
function findProblems(file: ScenarioFile): string[] {
  return [
    ...duplicates(file),
    ...owners(file),
    ...mapProblems(file),
    ...robotProblems(file),
    ...robotsOfIncidents(file),
  ];
}

function duplicates(file: ScenarioFile): string[] {
  return [
    ...twice("distributors", file.distributors, ({ id }) => id),
    ...twice(
      "distributors.apiKeys",
      file.distributors.flatMap(({ apiKeys }) => apiKeys),
      ({ apiKey }) => apiKey,
    ),
    ...twice("locations", file.locations, ({ id }) => id),
    ...twice("maps", file.maps, ({ id }) => String(id)),
    ...twice("robots", file.robots, ({ id }) => id),
    ...twice("robots (amrId)", file.robots, ({ amrId }) => String(amrId)),
  ];
}

function twice<T>(path: string, list: readonly T[], nameOf: (item: T) => string): string[] {
  const seen = new Set<string>();
  return list.flatMap((item) => {
    const name = nameOf(item);
    if (seen.has(name)) return [`${path}: ${name} is there twice`];
    seen.add(name);
    return [];
  });
}

function owners(file: ScenarioFile): string[] {
  const known = new Set(file.distributors.map(({ id }) => id));
  const check = (path: string, distributor: string) =>
    known.has(distributor) ? [] : [`${path}.distributor: there is no distributor ${distributor}`];
  return [
    ...file.locations.flatMap(({ distributor }, at) => check(`locations.${at}`, distributor)),
    ...file.maps.flatMap(({ distributor }, at) => check(`maps.${at}`, distributor)),
  ];
}

function mapProblems(file: ScenarioFile): string[] {
  return file.maps.flatMap((map, at) => {
    const path = `maps.${at}`;
    const codes = new Set(map.vertices.map(({ code }) => code));
    return [
      ...twice(`${path}.vertices (id)`, map.vertices, ({ id }) => String(id)),
      ...twice(`${path}.vertices (code)`, map.vertices, ({ code }) => code),
      ...twice(`${path}.vertices (display name)`, map.vertices, displayName),
      ...map.edges.flatMap((edge, edgeAt) =>
        edge
          .filter((code) => !codes.has(code))
          .map((code) => `${path}.edges.${edgeAt}: there is no vertex ${code}`),
      ),
    ];
  });
}

function robotProblems(file: ScenarioFile): string[] {
  const maps = new Map(file.maps.map((map) => [map.id, map]));
  const locations = new Map(file.locations.map((location) => [location.id, location.distributor]));
  return file.robots.flatMap((robot, at) => {
    const path = `robots.${at} (${robot.id})`;
    const problems: string[] = [];
    const map = maps.get(robot.map);
    const distributor = locations.get(robot.location);
    if (distributor === undefined) problems.push(`${path}.location: there is no location ${robot.location}`);
    if (map === undefined) return [...problems, `${path}.map: there is no map ${robot.map}`];
    if (distributor !== undefined && distributor !== map.distributor) {
      problems.push(`${path}.map: map ${map.id} belongs to ${map.distributor}, the robot to ${distributor}`);
    }
    if (!map.vertices.some(({ code }) => code === robot.home)) {
      problems.push(`${path}.home: map ${map.id} has no vertex ${robot.home}`);
    }
    const dock = map.vertices.find(({ code }) => code === robot.dock);
    if (robot.dock !== undefined && dock?.kind !== "charger") {
      problems.push(`${path}.dock: map ${map.id} has no charger ${robot.dock}`);
    }
    return problems;
  });
}

function robotsOfIncidents(file: ScenarioFile): string[] {
  const known = new Set(file.robots.map(({ id }) => id));
  const check = (path: string, robotId: string | undefined) =>
    robotId === undefined || known.has(robotId) ? [] : [`${path}.robotId: there is no robot ${robotId}`];
  return [
    ...file.incidents.flatMap(({ incident }, at) => check(`incidents.${at}.incident`, incident.robotId)),
    ...file.faults.flatMap(({ fault }, at) =>
      "robotId" in fault ? check(`faults.${at}.fault`, fault.robotId) : [],
    ),
  ];
}
