import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { CREDENTIAL_PREFIX, type Environment } from "../config/environment.ts";

/** What the gateway finds in its environment if its unit starts it. */
export interface UnitEnvironment {
  readonly env: Environment;
  /** The file of the unit; null: there is none. */
  readonly source: string | null;
  /** The rights of the unit that starts this configuration; null: no such unit was found. */
  readonly rights: UnitRights | null;
}

/** What systemd lets a unit do. */
export interface UnitRights {
  readonly user: string;
  readonly group: string;
  /** Groups beside those that the user has on this machine. */
  readonly groups: readonly string[];
  /** The only folders that it may write to; null: no limit. */
  readonly writable: readonly string[] | null;
}

const UNIT = "fleetgate.service";
/** The unit for several gateways on one machine. */
const TEMPLATE = "fleetgate@.service";
/** Where systemd looks for units, the strongest first (`man systemd.unit`). */
const unitFolders = [
  "/etc/systemd/system",
  "/run/systemd/system",
  "/usr/local/lib/systemd/system",
  "/usr/lib/systemd/system",
  "/lib/systemd/system",
];
/** Where systemd looks for a credential that is named without a path (`man systemd.exec`). */
const credentialStores = ["/etc/credstore", "/run/credstore", "/usr/lib/credstore"];
const ROOT = 0;

/**
 * For root in a shell: the files of the unit's LoadCredential= lines and its StateDirectory=, where the unit
 * is installed. Without this, `fleetgate check` would not find what the service finds. The unit is the one
 * that starts the configuration at `path`: `fleetgate@NAME` for NAME.yaml; for any other file
 * `fleetgate.service`, without its rights.
 */
export function unitEnvironment(
  env: Environment,
  uid: number | null,
  path: string,
  folders: readonly string[] = unitFolders,
): UnitEnvironment {
  const isOfSystemd = env.CREDENTIALS_DIRECTORY !== undefined || env.STATE_DIRECTORY !== undefined;
  const single = readUnit(folders, UNIT, "");
  if (uid !== ROOT || isOfSystemd || single === null) return { env, source: null, rights: null };
  const several = readUnit(folders, TEMPLATE, basename(path, ".yaml"));
  const starts = [single, several].find((unit) => unit !== null && doesStart(unit, path)) ?? null;
  const { file, lines } = starts ?? single;
  const state = lastOf(lines, "StateDirectory");
  const stateFolder = state === null ? null : `/var/lib/${state.split(/\s+/)[0]}`;
  return {
    env: {
      ...env,
      unit: file,
      ...(stateFolder === null ? {} : { STATE_DIRECTORY: stateFolder }),
      ...credentials(lines),
    },
    source: file,
    rights: starts === null ? null : rightsOf(lines, stateFolder),
  };
}

interface Unit {
  readonly file: string;
  readonly lines: readonly Line[];
}

/** A unit with its drop-ins; `%i` in it is the instance. */
function readUnit(folders: readonly string[], name: string, instance: string): Unit | null {
  const file = folders.map((folder) => join(folder, name)).find(existsSync);
  if (file === undefined) return null;
  const names = [name, ...(name === TEMPLATE ? [name.replace("@", `@${instance}`)] : [])];
  const files = [file, ...names.flatMap((each) => dropIns(folders, each))];
  const lines = files.flatMap(serviceLines);
  return { file, lines: lines.map(({ key, value }) => ({ key, value: value.replaceAll("%i", instance) })) };
}

function doesStart({ lines }: Unit, path: string): boolean {
  return (lastOf(lines, "ExecStart") ?? "").split(/\s+/).includes(resolve(path));
}

function rightsOf(lines: readonly Line[], stateFolder: string | null): UnitRights | null {
  const user = lastOf(lines, "User");
  if (user === null) return null;
  const allOf = (name: string) =>
    lines.flatMap(({ key, value }) => (key === name ? value.split(/\s+/).filter(Boolean) : []));
  const isStrict = lastOf(lines, "ProtectSystem") === "strict";
  const writable = isStrict
    ? [...(stateFolder === null ? [] : [stateFolder]), ...allOf("ReadWritePaths")]
    : null;
  const groups = allOf("SupplementaryGroups");
  return { user, group: lastOf(lines, "Group") ?? user, groups, writable };
}

/** The drop-ins by name. If several have one name, that of the strongest folder. */
function dropIns(folders: readonly string[], unit: string): readonly string[] {
  const byName = new Map<string, string>();
  for (const folder of folders.map((each) => join(each, `${unit}.d`))) {
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
