import { relative } from "node:path";
import { CREDENTIAL_PREFIX } from "../config/environment.ts";
import { takeRights } from "../platform/folder.ts";
import { UNREADABLE } from "../platform/plain-file.ts";
import { type Reading, type ReportedProblem, readConfiguration } from "./configuration.ts";
import type { UnitEnvironment, UnitRights } from "./unit-environment.ts";

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
