import { type Config, loadConfig } from "../config/load.ts";
import type { ConfigProblem } from "../config/problem.ts";
import { createCatalogue } from "../fleet/operations.ts";
import { exitCodes } from "./exit.ts";

/**
 * The configuration, or every problem on standard error and exit code 78. Warnings are printed either way.
 * @param outdated how a certificate of the gateway is reported that is not valid now
 */
export async function configurationOrExit(
  path: string,
  outdated: "error" | "warning" = "warning",
): Promise<Config> {
  const loaded = await loadConfig(path, process.env, createCatalogue());
  if (!loaded.ok) return exitWith(path, loaded.problems);
  for (const warning of loaded.warnings) print(path, "warning", warning);
  if (outdated === "error" && loaded.outdated.length > 0) return exitWith(path, loaded.outdated);
  for (const problem of loaded.outdated) print(path, "warning", problem);
  return loaded.config;
}

function exitWith(path: string, problems: readonly ConfigProblem[]): never {
  for (const problem of problems) print(path, "error", problem);
  const count = problems.length;
  process.stderr.write(
    `fleetgate: ${count} ${count === 1 ? "problem" : "problems"} in ${path}; nothing was started\n`,
  );
  process.exit(exitCodes.config);
}

/** `file:line: severity: path: message`, as compilers write it and editors read it. */
function print(file: string, severity: "error" | "warning", problem: ConfigProblem): void {
  const place = problem.line === null ? file : `${file}:${problem.line}`;
  const path = problem.path === "" ? "" : `${problem.path}: `;
  process.stderr.write(`${place}: ${severity}: ${path}${problem.message}\n`);
}
