import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { freeBytes } from "../disk-health.ts";
import { PlainError } from "../error-text.ts";
import { makeFolder } from "../folder.ts";
import { isJsonObject } from "../json.ts";
import {
  isMissingOnFullDisk,
  type KeyedStore,
  LEAST_FREE_BYTES,
  openStore,
  StoreFailed,
  type StoreParts,
  systemParts,
} from "../store.ts";
import { damagedRecord } from "./record-seal.ts";
import { isReadOnlyError, walkRecords } from "./record-walk.ts";
import {
  DATA_FILE,
  isClosed,
  markClosed,
  readFormat,
  readLoss,
  removeClosed,
  removeLoss,
  type StoreFormat,
  type StoreLoss,
  syncFolder,
  writeFormat,
  writeLoss,
} from "./store-marks.ts";

/** Checks a store's folder and returns what is wrong with the store; null: it can be opened. */
type StoreCheck = (folder: string) => Promise<string | null>;

/** A journal of 100,000 records takes 0.4 s; a disk that needs this long has a fault of its own. */
const LONGEST_CHECK_MS = 60_000;
/** The signals by which a damaged store ends the process that reads it. */
const FATAL_SIGNALS: readonly NodeJS.Signals[] = ["SIGBUS", "SIGSEGV", "SIGABRT", "SIGILL", "SIGFPE"];
const PROGRAM = fileURLToPath(new URL("./store-program.js", import.meta.url));

/**
 * Reads every record of the store in a separate process: lmdb maps the file into memory, and a damaged file
 * ends the process that reads it, without an error that could be caught.
 *
 * @throws StoreFailed if the check cannot be made: nothing is known of the store then
 */
export async function checkStore(folder: string, program = PROGRAM): Promise<string | null> {
  const result = await runOnStore("walk", folder, program);
  return "signal" in result ? `reading it ends the process with ${result.signal}` : problemIn(result.text);
}

/**
 * Reads the store in a process of its own (store-program.ts).
 *
 * @returns its output, or the signal by which a damaged store has ended it
 * @throws StoreFailed if it could not do its work
 */
export async function runOnStore(
  task: "walk" | "export",
  folder: string,
  program = PROGRAM,
): Promise<{ readonly text: string } | { readonly signal: NodeJS.Signals }> {
  refuseFullDisk(folder);
  const child = spawn(process.execPath, [program, task, folder], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LONGEST_CHECK_MS,
    killSignal: "SIGKILL",
  });
  const ended = once(child, "close");
  const [said, complaint, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ]).catch((error: unknown) => {
    throw new StoreFailed(`${folder} could not be checked`, { cause: error });
  });
  if (signal !== null && FATAL_SIGNALS.includes(signal)) return { signal };
  if (code === 0) return { text: said };
  const reason = signal === null ? complaint.trim() : `it took longer than ${LONGEST_CHECK_MS / 1_000} s`;
  throw new StoreFailed(`${folder} could not be checked: ${reason}`);
}

/** lmdb maps its lock file into memory too: making it on a full disk would look like a damaged store. */
function refuseFullDisk(folder: string): void {
  const free = freeBytes(folder);
  if (existsSync(join(folder, "lock.mdb")) || free === null || free >= LEAST_FREE_BYTES) return;
  throw new StoreFailed(`${folder} could not be checked: the disk is full`);
}

function problemIn(report: string): string | null {
  const said: unknown = JSON.parse(report);
  return isJsonObject(said) && typeof said.problem === "string" ? said.problem : null;
}

/** A newer program has written the store. */
export class StoreTooNew extends PlainError {
  override readonly name = "StoreTooNew";
  override readonly ending = "data";
}

/** Stands between the name of a store that was put aside and the time. */
const ASIDE = ".damaged-";
/** Of a name from a damaged file, in characters. */
const LONGEST_NAME = 64;

/** How a store is checked before it is opened. */
export interface Preparation {
  /** Whether the store must be there: its owner has run on this data folder before. */
  readonly isExpected: boolean;
  /** Whether an operator must confirm a loss; otherwise the store just begins empty. */
  readonly mustBeConfirmed: boolean;
  /** Whether its owner reads every record when it opens the store, and finds a damaged one. */
  readonly isReadByOwner?: boolean;
  readonly nowMs: number;
  /** Replaces the check by a separate process, in a test. */
  readonly check?: StoreCheck;
}

/**
 * Checks the store in `folder` before it is opened, and makes the folder if it is missing. If a store was not
 * closed after its last change, a separate process reads it first. A damaged store is put aside (its name is
 * followed by the time), and an empty one replaces it.
 *
 * @returns what was lost, now or earlier and not yet confirmed; null: nothing
 * @throws StoreTooNew a newer program has written it
 * @throws StoreFailed it cannot be checked
 */
export async function prepareStore(
  folder: string,
  format: StoreFormat,
  preparation: Preparation,
): Promise<StoreLoss | null> {
  refuseNewer(folder, format);
  const reason = await problemOf(folder, format, preparation);
  if (reason === null) {
    if (!existsSync(folder)) await makeEmpty(folder);
    return readLoss(folder);
  }
  return loseStore(folder, reason, preparation.nowMs, preparation.mustBeConfirmed);
}

/**
 * Puts an unusable store aside, and an empty one in its place.
 *
 * @returns what was lost
 */
export async function loseStore(
  folder: string,
  reason: string,
  nowMs: number,
  mustBeConfirmed: boolean,
): Promise<StoreLoss> {
  const since = new Date(nowMs).toISOString();
  const loss: StoreLoss = { since, reason, keptAs: putAside(folder, since) };
  await makeFolder(folder);
  // First: if this ends between the two, an empty store without the mark of a loss would pass for a new one.
  if (mustBeConfirmed) writeLoss(folder, loss);
  await makeEmpty(folder);
  return loss;
}

/**
 * Opens a store that was prepared. Its files mark it as open until `close` has resolved.
 *
 * @throws StoreFailed as openStore
 */
export function openKeptStore(
  folder: string,
  format: StoreFormat,
  parts: StoreParts = systemParts,
): KeyedStore {
  const store = openStore(folder, {
    ...parts,
    beforeOpen() {
      if (readFormat(folder) === "missing") writeFormat(folder, format);
      if (existsSync(join(folder, DATA_FILE))) removeClosed(folder);
    },
    // A process that is killed at its first start leaves a store without a record, or the mark of an empty
    // one.
    afterOpen: () => removeClosed(folder),
  });
  return {
    ...store,
    async close() {
      await store.close();
      try {
        markClosed(folder);
      } catch (error) {
        // Without the mark, the next start checks the store in a separate process, which takes longer.
        if (!isReadOnlyError(error)) throw error;
      }
    },
  };
}

/**
 * Puts a store aside whose content is no longer true, and an empty one in its place.
 *
 * @param reason why an operator must confirm the loss; null: an operator asked for this
 * @returns the new path of the old store; null: there was none
 */
export async function discardStore(
  folder: string,
  nowMs: number,
  reason: string | null,
): Promise<string | null> {
  const { keptAs } = await loseStore(folder, reason ?? "", nowMs, reason !== null);
  return keptAs;
}

/** Removes a store, so that the next start makes a new one: for a demo, whose world begins anew. */
export async function renewStore(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await makeEmpty(folder);
}

/** The version of a store's records, and that of this program. */
export interface OtherFormat {
  readonly found: number;
  readonly own: number;
}

/** Null: the store in `folder` has the program's format, or cannot be told to have another. */
export function otherFormat(folder: string, { store, version: own }: StoreFormat): OtherFormat | null {
  const found = readFormat(folder);
  if (typeof found === "string" || found.store !== store || found.version === own) return null;
  return { found: found.version, own };
}

function refuseNewer(folder: string, { store, version }: StoreFormat): void {
  const found = readFormat(folder);
  if (typeof found === "string" || found.store !== store || found.version <= version) return;
  throw new StoreTooNew(
    `${folder} holds the store "${found.store}" in version ${found.version}, and this program knows it up to version ` +
      `${version}: install the newer program again, or give this one a gateway.dataDir of its own`,
  );
}

async function problemOf(
  folder: string,
  format: StoreFormat,
  { isExpected, isReadByOwner = false, check = checkStore }: Preparation,
): Promise<string | null> {
  if (isNoFolder(folder)) return "it is no folder";
  const found = readFormat(folder);
  if (found === "damaged") return "format.json is damaged";
  if (found !== "missing") {
    const problem = formatProblem(found, format);
    if (problem !== null) return problem;
  }
  const data = statSync(join(folder, DATA_FILE), { throwIfNoEntry: false });
  if (data?.isFile() === false) return `${DATA_FILE} is no file`;
  if (found === "missing" && data !== undefined && data.size > 0) return "format.json is missing";
  const isUntouched = isClosed(folder);
  if (data === undefined && !isUntouched) {
    return isExpected || found !== "missing" ? `${DATA_FILE} is missing` : null;
  }
  if (data === undefined || data.size === 0) return isUntouched ? null : `${DATA_FILE} is empty`;
  if (!isUntouched) {
    const problem = await check(folder);
    return isReadByOwner && problem === damagedRecord ? null : problem;
  }
  return recordProblem(folder, isReadByOwner);
}

/**
 * Reads every record of a store that was closed in order, in this process: a disk may change a byte
 * afterwards. If that ends the process, the store no longer counts as closed, so a separate process reads it
 * at the next start, and names the loss.
 */
async function recordProblem(folder: string, isReadByOwner: boolean): Promise<string | null> {
  // Its owner opens it next, and reports why it cannot be opened.
  if (isMissingOnFullDisk(folder)) return null;
  try {
    removeClosed(folder);
    return await walkRecords(folder, isReadByOwner);
  } catch (error) {
    throw new StoreFailed(`${folder} could not be checked`, { cause: error });
  }
}

/** What is wrong with the format that was found; this program needs `format`. */
function formatProblem(found: StoreFormat, format: StoreFormat): string | null {
  if (found.store !== format.store) return `it is the store "${found.store.slice(0, LONGEST_NAME)}"`;
  if (found.version >= format.version) return null;
  return `its records are of version ${found.version}, and this program reads version ${format.version}`;
}

function isNoFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}

/** @returns the new path of the store; null: there was none */
function putAside(folder: string, since: string): string | null {
  if (!existsSync(folder)) return null;
  if (!isNoFolder(folder) && readdirSync(folder).length === 0) return null;
  const aside = `${folder}${ASIDE}${since.replaceAll(":", "-")}`;
  renameSync(folder, aside);
  syncFolder(dirname(folder));
  return aside;
}

async function makeEmpty(folder: string): Promise<void> {
  await makeFolder(folder);
  syncFolder(dirname(folder));
  markClosed(folder);
}

/** The losses of the stores in `dataDir`. This call confirms them: the stores count as whole from now on. */
export function confirmLosses(dataDir: string): ReadonlyArray<StoreLoss & { readonly folder: string }> {
  const folders = readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.includes(ASIDE))
    .map((entry) => join(dataDir, entry.name));
  return folders.flatMap((folder) => {
    const loss = readLoss(folder);
    if (loss === null) return [];
    removeLoss(folder);
    return [{ ...loss, folder }];
  });
}
