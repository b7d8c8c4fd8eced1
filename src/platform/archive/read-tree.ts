import { lstatSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import type { ArchiveEntry } from "./tar.ts";

/** A path that is read into an archive. */
interface Found {
  readonly path: string;
  readonly stats: Stats;
}

/**
 * Reads files, and folders with all that is in them, as entries named by their absolute paths. The folders
 * come before what is in them. A link is followed where it is named itself; links in folders are left out,
 * as sockets are. Throws what the file system throws.
 */
export function readTree(paths: readonly string[]): readonly ArchiveEntry[] {
  const users = readAccounts("/etc/passwd");
  const groups = readAccounts("/etc/group");
  return paths.flatMap(listed).map(({ path, stats }) => ({
    name: nameOf(path),
    kind: stats.isFile() ? ("file" as const) : ("folder" as const),
    mode: stats.mode & 0o7777,
    owner: users.nameOf(stats.uid),
    group: groups.nameOf(stats.gid),
    changedMs: stats.mtimeMs,
    content: stats.isFile() ? readFileSync(path) : Buffer.alloc(0),
  }));
}

/** A folder alone, without what is in it. */
export function readFolder(path: string): ArchiveEntry {
  const stats = statSync(path);
  return {
    name: nameOf(path),
    kind: "folder",
    mode: stats.mode & 0o7777,
    owner: readAccounts("/etc/passwd").nameOf(stats.uid),
    group: readAccounts("/etc/group").nameOf(stats.gid),
    changedMs: stats.mtimeMs,
    content: Buffer.alloc(0),
  };
}

/** Says of files and folders whether anything has changed: equal texts mean that nothing has. */
export function stateOfTree(paths: readonly string[]): string {
  return paths
    .flatMap(listed)
    .map(({ path, stats }) => `${path} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`)
    .join("\n");
}

function listed(path: string): readonly Found[] {
  const stats = statSync(path);
  return stats.isDirectory() ? [{ path, stats }, ...contentOf(path)] : [{ path, stats }];
}

function contentOf(folder: string): readonly Found[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      const stats = lstatSync(path);
      if (stats.isDirectory()) return [{ path, stats }, ...contentOf(path)];
      return stats.isFile() ? [{ path, stats }] : [];
    });
}

function nameOf(path: string): string {
  return path.slice(1);
}

/** The names and numbers of this machine's users or groups. */
export interface Accounts {
  nameOf(number: number): string;
  /** Null: there is none of this name. */
  numberOf(name: string): number | null;
}

/** @param file /etc/passwd or /etc/group: in both the third field is the number */
export function readAccounts(file: string): Accounts {
  const names = new Map<number, string>();
  const numbers = new Map<string, number>();
  for (const line of textOf(file).split("\n")) {
    const [name = "", , number = ""] = line.split(":");
    if (!/^\d+$/.test(number)) continue;
    if (!names.has(Number(number))) names.set(Number(number), name);
    if (!numbers.has(name)) numbers.set(name, Number(number));
  }
  return {
    // A number that has no name, as in a container, stands for itself.
    nameOf: (number) => names.get(number) ?? String(number),
    numberOf: (name) => numbers.get(name) ?? (/^\d+$/.test(name) ? Number(name) : null),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
