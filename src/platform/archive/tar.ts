import { lstatSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { packTar as pack, unpackTar as unpack } from "modern-tar";

/** A file or folder of an archive. */
export interface ArchiveEntry {
  /** With slashes, and none in front. */
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly mode: number;
  /** Names and not numbers: another machine may have other numbers. */
  readonly owner: string;
  readonly group: string;
  readonly changedMs: number;
  /** Empty for a folder. */
  readonly content: Buffer;
}

/** An archive is not what it should be; the message says why, as a sentence. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

/** An archive that `tar` reads too. */
export async function packTar(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const packed = await pack(
    entries.map(({ name, kind, mode, owner, group, changedMs, content }) => ({
      header: {
        name,
        type: kind === "file" ? ("file" as const) : ("directory" as const),
        size: content.length,
        mode,
        uname: owner,
        gname: group,
        mtime: new Date(changedMs),
      },
      body: content,
    })),
  );
  return Buffer.from(packed);
}

/** The files and folders of an archive. Throws ArchiveRefused for anything else, as links. */
export async function unpackTar(archive: Buffer): Promise<readonly ArchiveEntry[]> {
  const found = await unpack(archive, { strict: true }).catch((cause: unknown) => {
    throw new ArchiveRefused("it is damaged, or no archive", { cause });
  });
  return found.map(({ header, data = [] }) => {
    const { name, type, mode = 0, uname = "", gname = "", mtime } = header;
    if (type !== "file" && type !== "directory")
      throw new ArchiveRefused(`${name} is neither a file nor a folder: fleetgate has not written it`);
    const changedMs = mtime?.getTime() ?? 0;
    return {
      name,
      kind: type === "file" ? ("file" as const) : ("folder" as const),
      mode,
      owner: uname,
      group: gname,
      changedMs,
      content: Buffer.from(data),
    };
  });
}

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
interface Accounts {
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
