import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CREDENTIAL_PREFIX, type Environment } from "../config/named-files.ts";

/** What the gateway would find in its environment. */
export interface UnitEnvironment {
  readonly env: Environment;
  /** The file of the unit that it was taken from; null: nothing was. */
  readonly source: string | null;
}

const UNIT = "fleetgate.service";
/** Where systemd looks for units, the strongest first (`man systemd.unit`). */
const unitFolders = [
  "/etc/systemd/system",
  "/run/systemd/system",
  "/usr/local/lib/systemd/system",
  "/usr/lib/systemd/system",
  "/lib/systemd/system",
];
/** Where it looks for a credential that is named without a path (`man systemd.exec`). */
const credentialStores = ["/etc/credstore", "/run/credstore", "/usr/lib/credstore"];
const ROOT = 0;

/**
 * For root in a shell: the files of the unit's LoadCredential= lines and its StateDirectory=, where the unit
 * is installed. Without this, `fleetgate check` would not find what the service finds.
 */
export function unitEnvironment(
  env: Environment,
  uid: number | null,
  folders: readonly string[] = unitFolders,
): UnitEnvironment {
  const isOfSystemd = env.CREDENTIALS_DIRECTORY !== undefined || env.STATE_DIRECTORY !== undefined;
  const unit = folders.map((folder) => join(folder, UNIT)).find(existsSync);
  if (uid !== ROOT || isOfSystemd || unit === undefined) return { env, source: null };
  const lines = [unit, ...dropIns(folders)].flatMap(serviceLines);
  const state = lastOf(lines, "StateDirectory");
  return {
    env: {
      ...env,
      unit,
      ...(state === null ? {} : { STATE_DIRECTORY: `/var/lib/${state.split(/\s+/)[0]}` }),
      ...credentials(lines),
    },
    source: unit,
  };
}

/** The drop-ins by name; of those with one name the one in the strongest folder. */
function dropIns(folders: readonly string[]): readonly string[] {
  const byName = new Map<string, string>();
  for (const folder of folders.map((each) => join(each, `${UNIT}.d`))) {
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder))
      if (name.endsWith(".conf") && !byName.has(name)) byName.set(name, join(folder, name));
  }
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
}

interface Line {
  readonly key: string;
  readonly value: string;
}

/** The settings of the section [Service], in order. */
function serviceLines(path: string): readonly Line[] {
  const found: Line[] = [];
  let section = "";
  for (const text of readFileSync(path, "utf8").replace(/\\\n/g, " ").split("\n")) {
    const line = text.trim();
    section = /^\[(.*)\]$/.exec(line)?.[1] ?? section;
    const setting = /^(\w+)\s*=\s*(.*)$/.exec(line);
    if (section === "Service" && setting !== null)
      found.push({ key: setting[1] ?? "", value: setting[2] ?? "" });
  }
  return found;
}

function lastOf(lines: readonly Line[], key: string): string | null {
  const value = lines.findLast((line) => line.key === key)?.value ?? "";
  return value === "" ? null : value;
}

/** `LoadCredential=NAME:PATH`; an empty line takes back the earlier ones. */
function credentials(lines: readonly Line[]): Record<string, string> {
  let found: Record<string, string> = {};
  for (const { key, value } of lines) {
    if (key !== "LoadCredential") continue;
    if (value === "") found = {};
    const [name = "", path = ""] = value.split(/:(.*)/s);
    const file = path === "" ? storedAt(name) : path;
    if (name !== "" && file !== null) found[`${CREDENTIAL_PREFIX}${name}`] = file;
  }
  return found;
}

function storedAt(name: string): string | null {
  return credentialStores.map((folder) => join(folder, name)).find(existsSync) ?? null;
}
