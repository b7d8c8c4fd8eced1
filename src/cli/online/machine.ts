import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { freeBytes } from "../../platform/disk-space.ts";
import { messageOf } from "../../platform/error-text.ts";
import { folderHolder } from "../../platform/folder-lock.ts";
import { folderFault } from "../../platform/make-folder.ts";
import { isCode } from "../../platform/socket-probe.ts";
import { LEAST_FREE_BYTES } from "../../platform/store.ts";
import { ok, type Part, skipped, wrong } from "./part.ts";

/** A good moment to act (docs/install.md, A full disk). */
const GOOD_FREE_BYTES = 100_000_000;
const MEGABYTE = 1_000_000;

/** The process of the gateway on this data folder; null: none runs; undefined: it cannot be read. */
export async function runningGateway(dataDir: string): Promise<string | null | undefined> {
  try {
    return await folderHolder(dataDir);
  } catch {
    return undefined;
  }
}

export function gatewayPart(dataDir: string, holder: string | null | undefined): Part {
  const part = "gateway";
  if (holder === undefined)
    return skipped(
      part,
      `this user may not look whether a gateway runs on ${dataDir}`,
      "run this check as root, or as the gateway's own user",
    );
  if (holder === null) return ok(part, `none runs on ${dataDir}`);
  return ok(part, `process ${holder} runs on ${dataDir}; this check leaves it alone`);
}

/** Whether the data folder can be written, and its free space. Writes nothing. */
export async function tryDisk(dataDir: string): Promise<Part> {
  const part = "disk gateway.dataDir";
  const fault = await writeFault(dataDir);
  if (fault !== null) return wrong(part, `${dataDir} cannot be used`, fault);
  const free = freeBytes(dataDir);
  if (free === null) return skipped(part, `the file system of ${dataDir} does not say how much is free`);
  const megabytes = `${Math.floor(free / MEGABYTE)} MB are free for ${dataDir}`;
  if (free < LEAST_FREE_BYTES)
    return wrong(part, megabytes, "make room: below 8 MB nothing but stops is sent to robots");
  if (free < GOOD_FREE_BYTES) return wrong(part, megabytes, "make room soon: 100 MB is a good moment to act");
  return ok(part, megabytes);
}

/** Why this user cannot write in the folder, or in the nearest existing one above it; null: it can. */
async function writeFault(folder: string): Promise<string | null> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    if (isCode(error, "ENOENT") && dirname(folder) !== folder) return writeFault(dirname(folder));
    return error instanceof Error ? folderFault(folder, error) : messageOf(error);
  }
}
