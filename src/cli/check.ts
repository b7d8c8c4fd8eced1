import { relative } from "node:path";
import { Command, Option } from "commander";
import { CREDENTIAL_PREFIX } from "../config/environment.ts";
import type { Config } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import { createCatalogue } from "../fleet/operations.ts";
import { systemClock } from "../platform/clock.ts";
import { allowLongWays } from "../platform/connect-fault.ts";
import { asOwnerOf, takeRights } from "../platform/folder.ts";
import { UNREADABLE } from "../platform/plain-file.ts";
import { checkReport } from "./check-report.ts";
import { exitOnProblems, type Reading, type ReportedProblem, readConfiguration } from "./configuration.ts";
import { exitCodes } from "./exit.ts";
import { configOption } from "./installed.ts";
import { type Part, partText } from "./online/endpoints.ts";
import { complain, say } from "./readable.ts";
import { type UnitEnvironment, type UnitRights, unitEnvironment } from "./unit-environment.ts";

interface CheckOptions {
  readonly config: string;
  readonly online?: boolean;
  readonly stores?: boolean;
  readonly json?: boolean;
}

/**
 * `fleetgate check`: reports the mistakes of a configuration, or its meaning; with --online, also what the
 * gateway would meet.
 */
export function checkCommand(): Command {
  return new Command("check")
    .description("check a configuration and the files that it names, and say what it means")
    .addOption(configOption())
    .option("--online", "try names, clock, connections, API key, stream, broker, ports and disk too")
    .option("--stores", "before an upgrade: whether this program goes on with the stores of the data folder")
    .addOption(new Option("--json", "print one JSON document").conflicts("stores"))
    .action(async ({ config: path, online = false, stores = false, json = false }: CheckOptions) => {
      const unit = unitEnvironment(process.env, process.getuid?.() ?? null, path);
      const reading = await readForUnit(path, unit);
      if (unit.source !== null && !json)
        process.stdout.write(`credentials and data folder are those of ${unit.source}\n`);
      if (json) return printDocument(reading, online, unit.source);
      const config = exitOnProblems(path, reading);
      const report = checkReport(config, createCatalogue());
      process.stdout.write(`${path} is valid: gateway ${config.gateway.id}\n${report}\n`);
      if (stores) await checkStores(config.gateway.dataDir);
      if (!online) return;
      process.stdout.write("\nOnline\n");
      const parts = await tryAll(config, reading.settings, unit.source !== null, (part) =>
        process.stdout.write(partText(part)),
      );
      const count = parts.filter(({ state }) => state === "wrong").length;
      if (count > 0) process.stdout.write(`\n${count} ${count === 1 ? "part is" : "parts are"} wrong\n`);
      end(parts);
    });
}

/** Ends with exit code 65 if this program would begin with an empty store, or refuse one. */
async function checkStores(dataDir: string): Promise<void> {
  // Loaded here and not at the top: other subcommands do not need the stores.
  const { otherFormats } = await import("../composition/stores.ts");
  const others = await asOwnerOf(dataDir, () => otherFormats(dataDir));
  for (const { folder, found, own } of others)
    complain(`${folder} is of version ${found}, and this program has version ${own}`);
  if (others.length > 0) process.exit(exitCodes.data);
}

/** One JSON document, whatever the result. */
async function printDocument(reading: Reading, online: boolean, unit: string | null): Promise<void> {
  const { config, settings, problems } = reading;
  const parts = online && config !== null ? await tryAll(config, settings, unit !== null, () => {}) : [];
  const document = { valid: config !== null, unit, problems, ...(online ? { parts } : {}) };
  say(JSON.stringify(document));
  if (config === null) process.exitCode = exitCodes.config;
  else end(parts);
}

const HOLD_MS = 60_000;

async function tryAll(
  config: Config,
  settings: Settings,
  isForUnit: boolean,
  report: (part: Part) => void,
): Promise<readonly Part[]> {
  // Timers and connections of the gateway's components do not keep a program alive; the whole check must.
  const hold = setInterval(() => {}, HOLD_MS);
  try {
    allowLongWays(config.fleet.times.connectMs);
    const { signal } = new AbortController();
    // Loaded here and not at the top: other subcommands do not need the protocols.
    const { checkOnline } = await import("./online/online-check.ts");
    return await checkOnline(config, { clock: systemClock, signal, settings, isForUnit, report });
  } finally {
    clearInterval(hold);
  }
}

function end(parts: readonly Part[]): void {
  const isWrong = parts.some(({ state }) => state === "wrong");
  process.exitCode = isWrong ? exitCodes.unavailable : exitCodes.ok;
}

/**
 * Reads a configuration for `fleetgate check`. If a unit starts it, also with the rights of the unit: root
 * may read files that the gateway may not, and write to folders that the gateway may not.
 */
export async function readForUnit(path: string, unit: UnitEnvironment): Promise<Reading> {
  const reading = await readConfiguration(path, unit.env, "error");
  if (unit.rights === null) return reading;
  const found = [
    ...(await unreadable(path, unit, unit.rights)),
    ...unwritable(reading, unit.source ?? "", unit.rights),
  ];
  const config = found.length > 0 ? null : reading.config;
  return { ...reading, config, problems: [...reading.problems, ...found] };
}

/**
 * The files that the unit's user may not read. Those of its LoadCredential= lines are read by systemd itself.
 */
async function unreadable(
  path: string,
  unit: UnitEnvironment,
  rights: UnitRights,
): Promise<readonly ReportedProblem[]> {
  const ofSystemd = Object.entries(unit.env).filter(([name]) => name.startsWith(CREDENTIAL_PREFIX));
  const reading = await withRights(rights, () => readConfiguration(path, unit.env, "error"));
  if (reading === null) {
    const message = `there is no user ${rights.user} or no group ${rights.group}, which ${unit.source} needs`;
    return [{ path: "", line: null, message, severity: "error" }];
  }
  return reading.problems.filter(
    ({ message }) =>
      message.endsWith(UNREADABLE) && !ofSystemd.some(([, file]) => message.startsWith(`${file} `)),
  );
}

/** A data folder that the unit's sandbox keeps read-only. */
function unwritable(
  { config }: Reading,
  source: string,
  { writable }: UnitRights,
): readonly ReportedProblem[] {
  if (config === null || writable === null) return [];
  const { dataDir } = config.gateway;
  if (writable.some((folder) => !relative(folder, dataDir).startsWith(".."))) return [];
  const allowed = writable.join(", ");
  const message = `${dataDir} is read-only for ${source}, which may write to ${allowed}: leave the key out, or name a folder there`;
  return [{ path: "gateway.dataDir", line: null, message, severity: "error" }];
}

/** Runs `work` with the rights of another user; null: that user or group does not exist. */
async function withRights<T>(rights: UnitRights, work: () => Promise<T>): Promise<T | null> {
  let back: () => void;
  try {
    back = takeRights(rights);
  } catch {
    return null;
  }
  try {
    return await work();
  } finally {
    back();
  }
}
