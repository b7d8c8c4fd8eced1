import { dirname, resolve } from "node:path";
import { readBackupFiles } from "../../config/backup-files.ts";
import type { Environment } from "../../config/environment.ts";
import { loadConfig } from "../../config/load.ts";
import { createCatalogue } from "../../fleet/operations.ts";
import type { ArchiveEntry } from "../../platform/archive/tar.ts";
import { plainText, type ReadFile } from "../../platform/plain-file.ts";
import { EXPORT_FILE } from "../../platform/stores/tables-export.ts";
import { exitCodes, NotPossible } from "../exit.ts";
import { installed } from "../installed.ts";
import { judgingHereMs } from "../machine-clock.ts";
import { type Backup, KEPT_FOLDER, pathOf } from "./archive.ts";

/** What lies below these folders is a gateway's: nothing else on the machine reads it. */
const USUAL = [dirname(installed.config), installed.data, installed.instances];

/**
 * Refuses a backup that `fleetgate backup` has not written: its configuration must be valid and of its
 * gateway, and each entry must be a file that the configuration names, one of the folders around them, or
 * part of the kept folder.
 *
 * @param env where credentials of systemd are, if the backup does not say
 * @throws NotPossible, with `consequence` at the end
 */
export async function refuseForeign(backup: Backup, env: Environment, consequence: string): Promise<void> {
  const { facts, entries } = backup;
  const refuse = (problem: string, code?: number) => new NotPossible(`${problem}; ${consequence}`, code);
  const here = { ...env, ...facts.credentials, STATE_DIRECTORY: facts.dataDir };
  const readFile = readerOf(entries);
  const loaded = await loadConfig(facts.config, here, createCatalogue(), judgingHereMs(), readFile);
  if (!loaded.ok) {
    const [first] = loaded.problems;
    const line = first?.line == null ? "" : `:${first.line}`;
    const what = [first?.path, first?.message].filter(Boolean).join(": ");
    throw refuse(`the configuration has mistakes: ${facts.config}${line}: ${what}`, exitCodes.config);
  }
  const files = await readBackupFiles(facts.config, here, readFile);
  if (!files.ok) throw refuse(files.problem, exitCodes.config);
  if (files.gatewayId !== facts.gatewayId || files.dataDir !== facts.dataDir)
    throw refuse(
      `the backup says gateway ${facts.gatewayId}, and its configuration gateway ${files.gatewayId}`,
    );
  const odd = oddEntry(backup, files.named);
  if (odd !== undefined)
    throw refuse(`${JSON.stringify(`/${odd.name}`)} is nothing that fleetgate backup writes`);
}

/** Refuses paths, for root, that other programs may read too. */
export function refuseElsewhere({ facts, entries }: Backup): void {
  const paths = [facts.dataDir, ...entries.filter(({ kind }) => kind === "file").map(pathOf)];
  const elsewhere = paths.filter((path) => !USUAL.some((folder) => isBelow(path, folder)));
  if (process.getuid?.() !== 0 || elsewhere.length === 0) return;
  throw new NotPossible(
    `the backup also writes to ${elsewhere.slice(0, 3).join(", ")}${elsewhere.length > 3 ? ", …" : ""}, outside ` +
      `${USUAL.join(", ")}: if you know where it comes from, add --elsewhere; nothing was changed`,
  );
}

function oddEntry({ facts, entries }: Backup, named: readonly string[]): ArchiveEntry | undefined {
  const files = new Set([facts.config, resolve(facts.dataDir, EXPORT_FILE), ...named]);
  const folders = new Set([...[...files].map((path) => resolve(path, "..")), facts.dataDir]);
  const kept = resolve(facts.dataDir, KEPT_FOLDER);
  const seen = new Set<string>();
  return entries.find((entry) => {
    const path = pathOf(entry);
    if (seen.has(path)) return true;
    seen.add(path);
    if (path === kept) return entry.kind !== "folder";
    if (isBelow(path, kept)) return !seen.has(resolve(path, ".."));
    return !(entry.kind === "file" ? files : folders).has(path);
  });
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function readerOf(entries: readonly ArchiveEntry[]): ReadFile {
  const files = new Map(entries.filter(({ kind }) => kind === "file").map((each) => [pathOf(each), each]));
  return async (path, _mostBytes, encoding) => {
    const entry = files.get(resolve(path));
    if (entry === undefined) throw Object.assign(new Error(), { code: "ENOENT" });
    return { text: plainText(entry.content, encoding), mode: entry.mode };
  };
}
