import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import { readBackupFiles } from "../../config/backup-files.ts";
import type { Environment } from "../../config/environment.ts";
import {
  type ArchiveEntry,
  ArchiveRefused,
  packTar,
  readFolder,
  readTree,
  stateOfTree,
  unpackTar,
} from "../../platform/archive/tar.ts";
import { isCode, messageOf, PlainError } from "../../platform/error-text.ts";
import { asOwnerOf } from "../../platform/folder.ts";
import { fileProblem } from "../../platform/plain-file.ts";
import { EXPORT_FILE, exportTables } from "../../platform/stores/tables-export.ts";
import { belongTogether } from "../../platform/tls-files.ts";
import { version } from "../../version.ts";
import { exitCodes, NotPossible } from "../exit.ts";

/** What a backup says of itself. */
interface BackupFacts {
  readonly gatewayId: string;
  /** Where the configuration was; absolute, as `dataDir` is. */
  readonly config: string;
  readonly dataDir: string;
  /** The version of the program that wrote it. */
  readonly program: string;
  /** The paths of credentials of systemd, by the name that the configuration uses. */
  readonly credentials: Readonly<Record<string, string>>;
  /** ISO 8601, UTC. */
  readonly madeAt: string;
}

const NAME = "fleetgate-backup.json";
const FORMAT = 1;

const absolute = z.string().refine((path) => !path.includes("\0") && resolve(path) === path);
const schema = z.object({
  format: z.literal(FORMAT),
  gateway_id: z.string().min(1),
  config: absolute,
  data_dir: absolute,
  credentials: z.record(z.string(), absolute).default({}),
  program: z.string().regex(/^\d+\.\d+\.\d+/),
  made_at: z.string(),
});

/** The first entry of a backup, so that a newer format is found before anything else is read. */
function factsEntry(facts: BackupFacts): ArchiveEntry {
  const { gatewayId, config, dataDir, credentials, program, madeAt } = facts;
  const text = {
    format: FORMAT,
    gateway_id: gatewayId,
    config,
    data_dir: dataDir,
    credentials,
    program,
    made_at: madeAt,
  };
  const content = Buffer.from(`${JSON.stringify(text, null, 2)}\n`);
  const owner = { owner: "root", group: "root" };
  return { name: NAME, kind: "file", mode: 0o600, ...owner, changedMs: Date.parse(madeAt), content };
}

/** Throws NotPossible. */
function readFacts(path: string, entry: ArchiveEntry | undefined): BackupFacts {
  if (entry?.name !== NAME) throw new NotPossible(`${path} is no backup of fleetgate; nothing was changed`);
  const text: unknown = JSON.parse(entry.content.toString("utf8"));
  const about = z.object({ format: z.number(), program: z.string() }).safeParse(text);
  if (about.success && (about.data.format > FORMAT || isNewer(about.data.program, version)))
    throw new NotPossible(
      `${path} was written by fleetgate ${about.data.program}, and this is ${version}: ` +
        "install that version first; nothing was changed",
      exitCodes.data,
    );
  const { gateway_id: gatewayId, data_dir: dataDir, made_at: madeAt, ...others } = schema.parse(text);
  const { config, credentials, program } = others;
  return { gatewayId, config, dataDir, credentials, program, madeAt };
}

/** By the three numbers of each. */
function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) =>
    text
      .split(/[.+~-]/)
      .slice(0, 3)
      .map(Number),
  );
  for (const place of [0, 1, 2]) {
    const [mine, its] = [a?.[place] ?? 0, b?.[place] ?? 0];
    if (mine !== its) return mine > its;
  }
  return false;
}

/** What a backup file holds. */
export interface Backup {
  readonly facts: BackupFacts;
  readonly entries: readonly ArchiveEntry[];
}

/** A backup of the gateway as it is. */
export interface FreshBackup extends Backup {
  /** Why the tables are not in it; null: they are, or there are none. */
  readonly tablesProblem: string | null;
}

/** The parts of the data folder that are true on another day, too: a folder, and the tables as a file. */
export const KEPT_FOLDER = "opcua";
export const TABLES_FOLDER = "tables";
const OWN = ["server", "own"];
/** What leads elsewhere than it looks. */
const oddName = /(^|\/)\.{0,2}(\/|$)|\0/;
/** Keys, certificates and a configuration: a file that unpacks to more is none of ours. */
const MOST_UNPACKED_BYTES = 256 * 1024 * 1024;
const TRIES = 5;
const PAUSE_MS = 200;

/**
 * Reads all that makes another machine this gateway, as it was at one moment: the gateway may run meanwhile.
 * Rejects with NotPossible.
 */
export async function readGateway(configPath: string, env: Environment, nowMs: number): Promise<FreshBackup> {
  const path = resolve(configPath);
  for (let left = TRIES; left > 0; left -= 1) {
    const files = await readBackupFiles(path, env);
    if (!files.ok) throw new NotPossible(files.problem, exitCodes.config);
    const { dataDir, gatewayId, credentials } = files;
    const kept = join(dataDir, KEPT_FOLDER);
    const paths = [...new Set([path, ...files.named])];
    const folders = [...new Set([...paths.map((each) => dirname(each)), dataDir])];
    const ofService = <T>(read: (trees: readonly string[]) => T) =>
      asOwnerOf(dataDir, () => read(existsSync(kept) ? [kept] : []));
    const state = async () =>
      [...(await ofOwners(paths, stateOfTree)), await ofService(stateOfTree)].join("\n");
    const entries = await readable(kept, async () => {
      const before = await state();
      const named = await ofOwners(paths, readTree);
      const read = [...folders.map(readFolder), ...named.flat(), ...(await ofService(readTree))];
      return before === (await state()) && (await ofService(() => isWhole(kept))) ? read : null;
    });
    const facts = {
      gatewayId,
      config: path,
      dataDir,
      credentials,
      program: version,
      madeAt: new Date(nowMs).toISOString(),
    };
    if (entries !== null) {
      const tables = await readTables(dataDir);
      return { facts, entries: [...entries, ...tables.entries], tablesProblem: tables.problem };
    }
    await setTimeout(PAUSE_MS);
  }
  throw new NotPossible(
    "the files change while they are read, or the OPC UA key and certificate are not a pair: try again",
  );
}

/** Reads each path with the rights of the user who decides what lies there. */
async function ofOwners<T>(paths: readonly string[], read: (path: readonly string[]) => T): Promise<T[]> {
  const all: T[] = [];
  for (const path of paths) all.push(await asOwnerOf(path, () => read([path])));
  return all;
}

/** The tables of a gateway, which may run on them. Their damage is no reason to have no backup. */
async function readTables(
  dataDir: string,
): Promise<{ readonly entries: readonly ArchiveEntry[]; readonly problem: string | null }> {
  const path = join(dataDir, EXPORT_FILE);
  try {
    const text = await asOwnerOf(dataDir, () =>
      // A restore before the first start has left it: the tables are not made of it yet.
      existsSync(path) ? readFileSync(path, "utf8") : exportTables(join(dataDir, TABLES_FOLDER)),
    );
    if (text === null) return { entries: [], problem: null };
    const { owner, group, changedMs } = readFolder(dataDir);
    const entry = { name: path.slice(1), kind: "file", mode: 0o600, owner, group, changedMs } as const;
    return { entries: [{ ...entry, content: Buffer.from(text) }], problem: null };
  } catch (error) {
    return { entries: [], problem: messageOf(error) };
  }
}

/** Where an entry belongs. */
export function pathOf({ name }: ArchiveEntry): string {
  return `/${name}`;
}

/** The bytes of a backup file. */
export async function packBackup({ facts, entries }: Backup): Promise<Buffer> {
  return gzipSync(await packTar([factsEntry(facts), ...entries]));
}

/** Rejects with NotPossible for anything that is no whole backup, or that a newer program has written. */
export async function unpackBackup(path: string, bytes: Buffer): Promise<Backup> {
  try {
    const unzipped = gunzipSync(bytes, { maxOutputLength: MOST_UNPACKED_BYTES });
    const [first, ...entries] = await unpackTar(unzipped);
    const facts = readFacts(path, first);
    const odd = entries.find(({ name }) => oddName.test(name));
    if (odd === undefined) return { facts, entries };
    throw new ArchiveRefused(`${JSON.stringify(odd.name)} is no name that fleetgate has written`);
  } catch (error) {
    if (error instanceof NotPossible) throw error;
    const reason = error instanceof ArchiveRefused ? error.message : "it is damaged, or no backup";
    throw new NotPossible(`${path}: ${reason}; nothing was changed`);
  }
}

/** A renewal replaces key and certificate one after the other. */
function isWhole(kept: string): boolean {
  const own = join(kept, ...OWN);
  const [certificate, key] = [join(own, "certs", "certificate.pem"), join(own, "private", "private_key.pem")];
  if (!existsSync(certificate) || !existsSync(key)) return true;
  try {
    return belongTogether(readFileSync(certificate, "utf8"), readFileSync(key, "utf8"));
  } catch {
    return false;
  }
}

/** Null when a file of the data folder went away between two looks. Throws NotPossible. */
async function readable<T>(kept: string, read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PlainError) throw error;
    const path = error instanceof Error && "path" in error ? String(error.path) : "a file";
    if (isCode(error, "ENOENT") && path.startsWith(`${kept}/`)) return null;
    if (isCode(error, "ENOENT") && path === dirname(kept))
      throw new NotPossible(`${path} does not exist yet: start the gateway once; nothing was written`);
    const advice = process.getuid?.() === 0 ? "give it to that user" : "run this as root";
    throw new NotPossible(`${path} ${fileProblem(error)}: ${advice}; nothing was written`);
  }
}
