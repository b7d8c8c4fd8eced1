import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { freeBytes } from "../disk-space.ts";
import { isJsonObject } from "../json.ts";
import { LEAST_FREE_BYTES, StoreFailed } from "../store.ts";

/** Checks a store's folder and returns what is wrong with the store; null: it can be opened. */
export type StoreCheck = (folder: string) => Promise<string | null>;

/** A journal of 100,000 records takes 0.4 s; a disk that needs this long has a fault of its own. */
const LONGEST_CHECK_MS = 60_000;
/** The signals by which a damaged store ends the process that reads it. */
const FATAL_SIGNALS: readonly (NodeJS.Signals | null)[] = [
  "SIGBUS",
  "SIGSEGV",
  "SIGABRT",
  "SIGILL",
  "SIGFPE",
];
const PROGRAM = fileURLToPath(new URL("./store-walk.js", import.meta.url));

/**
 * Reads every record of the store in a separate process: lmdb maps the file into memory, and a damaged file
 * ends the process that reads it, without an error that could be caught.
 *
 * @throws StoreFailed if the check cannot be made: nothing is known of the store then
 */
export async function checkStore(folder: string, program = PROGRAM): Promise<string | null> {
  refuseFullDisk(folder);
  const child = spawn(process.execPath, [program, folder], {
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
  if (FATAL_SIGNALS.includes(signal)) return `reading it ends the process with ${signal}`;
  if (code === 0) return problemIn(said);
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
