import type { Environment } from "../config/environment.ts";
import type { ConfigProblem } from "../config/finding.ts";
import { type Config, loadConfig } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import { createCatalogue } from "../fleet/operations.ts";
import { plainLines } from "../platform/plain-text.ts";
import { exitCodes } from "./exit.ts";
import { judgingHereMs, wrongClockHere } from "./machine-clock.ts";
import { complain } from "./readable.ts";

/** A problem for the report. */
export interface ReportedProblem extends ConfigProblem {
  readonly severity: "error" | "warning";
}

/** The result of reading a configuration; null: a problem is an error. */
export interface Reading {
  readonly config: Config | null;
  /** The values of the file, key by key; empty: a problem is an error. */
  readonly settings: Settings;
  readonly problems: readonly ReportedProblem[];
}

/**
 * @param outdated the severity of a certificate of the gateway that is not valid now, or that TLS does not
 * accept
 */
export async function readConfiguration(
  path: string,
  env: Environment,
  outdated: "error" | "warning",
): Promise<Reading> {
  const loaded = await loadConfig(path, env, createCatalogue(), judgingHereMs());
  const clock = wrongClockHere();
  if (!loaded.ok) return { config: null, settings: new Map(), problems: reported(loaded.problems, "error") };
  const useless = reported([...loaded.outdated, ...loaded.unusable], outdated);
  const problems = [
    ...reported(loaded.warnings, "warning"),
    ...(clock === null ? [] : reported([{ path: "", line: null, message: clock }], "warning")),
    ...useless,
  ];
  const isValid = problems.every(({ severity }) => severity === "warning");
  const { config, settings } = loaded;
  return isValid ? { config, settings, problems } : { config: null, settings: new Map(), problems };
}

/** The configuration, or exit code 78. Prints every problem on standard error, warnings too. */
export function exitOnProblems(path: string, { config, problems }: Reading): Config {
  if (config === null) exitWithProblems(path, problems, "nothing was started");
  for (const problem of problems) print(path, problem);
  return config;
}

/**
 * Prints every problem on standard error, and ends the process with exit code 78.
 *
 * @param consequence what was not done
 */
export function exitWithProblems(
  path: string,
  problems: readonly ReportedProblem[],
  consequence: string,
): never {
  for (const problem of problems) print(path, problem);
  const count = problems.filter(({ severity }) => severity === "error").length;
  complain(`${count} ${count === 1 ? "problem" : "problems"} in ${path}; ${consequence}`);
  process.exit(exitCodes.config);
}

/** Reads the configuration, or ends with exit code 78: for commands that start the gateway. */
export async function configurationOrExit(path: string): Promise<Config> {
  return exitOnProblems(path, await readConfiguration(path, process.env, "warning"));
}

/** Problems of the same severity. */
export function reported(
  problems: readonly ConfigProblem[],
  severity: ReportedProblem["severity"],
): readonly ReportedProblem[] {
  return problems.map((problem) => ({ ...problem, severity }));
}

/** `file:line: severity: path: message`, the form of compilers, which editors can read. */
function print(file: string, { line, severity, path, message }: ReportedProblem): void {
  const place = line === null ? file : `${file}:${line}`;
  process.stderr.write(plainLines(`${place}: ${severity}: ${path === "" ? "" : `${path}: `}${message}\n`));
}
