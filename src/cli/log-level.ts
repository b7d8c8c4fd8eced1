import { Command } from "commander";
import { nearest } from "../config/issues.ts";
import type { JsonObject } from "../platform/json.ts";
import { logLevels } from "../platform/log.ts";
import { jsonLine } from "../platform/plain-text.ts";
import { askGateway, type ControlOptions, exitWith, outcomeOf, print } from "./control-client.ts";
import { exitCodes, malformed } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { columns, objectOf, textOf } from "./readable.ts";
import { stopSignal } from "./stop-signal.ts";

const ANSWER_MS = 5_000;
const PATH = "/api/v1/log-level";
const ALL = "all";

const help = `
Levels: ${logLevels.join(", ")}. A level lasts until the gateway restarts; log.level of the configuration
counts from then on.

Examples:
  sudo fleetgate log-level
  sudo fleetgate log-level fleet debug
  sudo fleetgate log-level all info`;

/** `fleetgate log-level`: shows or sets what the gateway of this machine logs. */
export function logLevelCommand(): Command {
  const command = new Command("log-level").description(
    "show what the gateway of this machine logs, or log more or less of a component until it restarts",
  );
  return socketOptions(command)
    .argument("[component]", `a component, one of those that are shown without it, or ${ALL}`)
    .argument("[level]", `${logLevels.join(", ")}; left out: show the level`)
    .option("--json", "print a JSON object")
    .addHelpText("after", help)
    .action((component: string | undefined, level: string | undefined, options: ControlOptions) =>
      exitWith(() => run(component, level, options)),
    );
}

async function run(
  component: string | undefined,
  level: string | undefined,
  options: ControlOptions,
): Promise<number> {
  const socketPath = await findSocket(options);
  const signal = stopSignal();
  const ask = async (method: "GET" | "PUT", body?: JsonObject): Promise<JsonObject> => {
    const request = { method, path: PATH, timeoutMs: ANSWER_MS, ...(body === undefined ? {} : { body }) };
    return outcomeOf(null, await askGateway(socketPath, request, signal));
  };
  const before = await ask("GET");
  const levels = objectOf(before, "levels");
  if (component !== undefined) refuseUnknown(component, level, Object.keys(levels));
  if (component === undefined || level === undefined) return show(levels, component, options);
  const isAll = component === ALL || component === "*";
  const after = await ask("PUT", { ...(isAll ? {} : { component }), level });
  if (options.json === true) return print(jsonLine(after), exitCodes.ok);
  const was = isAll ? "" : ` (was ${textOf(levels, component)})`;
  const what = isAll ? "all components log" : `${component} logs`;
  return print(`${what} at ${level} until the gateway restarts${was}`, exitCodes.ok);
}

function show(levels: JsonObject, component: string | undefined, { json }: ControlOptions): number {
  const names = component === undefined || component === ALL ? Object.keys(levels) : [component];
  if (json === true)
    return print(
      jsonLine({ levels: Object.fromEntries(names.map((name) => [name, levels[name] ?? null])) }),
      exitCodes.ok,
    );
  return print(columns(names.map((name) => [name, textOf(levels, name)])).join("\n"), exitCodes.ok);
}

function refuseUnknown(component: string, level: string | undefined, components: readonly string[]): void {
  const isLevel = (text: string) => logLevels.some((each) => each === text);
  if (component !== ALL && component !== "*" && !components.includes(component)) {
    if (isLevel(component))
      throw malformed(`name a component before the level, as: fleetgate log-level ${ALL} ${component}`);
    throw malformed(`there is no component ${component}${advice(component, [...components, ALL])}`);
  }
  if (level !== undefined && !isLevel(level))
    throw malformed(`there is no level ${level}${advice(level, logLevels)}`);
}

function advice(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? `; it is one of ${known.join(", ")}` : `; the nearest is ${meant}`;
}
