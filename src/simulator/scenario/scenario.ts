import { readFile } from "node:fs/promises";
import { parse, YAMLParseError } from "yaml";
import type { z } from "zod";
import { replaceFile } from "../../platform/kept-file.ts";
import type { Fault } from "../faults/fault.ts";
import type { WorldSpec } from "../world/spec.ts";
import { findProblems } from "./references.ts";
import { type ScenarioFile, type ScenarioInput, scenarioSchema } from "./schema.ts";

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
    dock: robot.dock,
    group: robot.group ?? defaultGroup[robot.family],
    ip: robot.ip ?? `10.0.${(robot.amrId >> 8) & 255}.${robot.amrId & 255}`,
  }));
  const worldRules = { ...rules, weightChangeMs: rules.weightChangeMs ?? undefined };
  return {
    world: { seed, rules: worldRules, locations, maps, robots, lively, incidents },
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
