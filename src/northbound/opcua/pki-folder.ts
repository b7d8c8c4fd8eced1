import { cp, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeError } from "../../platform/error-text.ts";
import { makeFolder } from "../../platform/folder.ts";
import type { Log } from "../../platform/log.ts";

/** The folder of the server's key, its certificate and its trust lists. */
export interface PkiFolder {
  readonly path: string;
  /** Whether it is removed with this process, because the disk did not take it. */
  readonly isTemporary: boolean;
  /** Removes a temporary folder. Never rejects. */
  close(): Promise<void>;
}

/** Files that node-opcua makes if they are missing, and that must not be incomplete. */
const MADE = [
  "server/own/openssl.cnf",
  "server/own/private/private_key.pem",
  "server/own/certs/certificate.pem",
  "users/own/openssl.cnf",
  "users/own/private/private_key.pem",
];
/** More than all of these together. */
const PROBE_BYTES = 65_536;
/** Memory on Linux; elsewhere the temporary folder, which may at least be on another disk. */
const elsewhere = ["/dev/shm", tmpdir()];

/**
 * `folder`, if the server can start with it: all files exist, or can be written. Otherwise a copy of the
 * existing ones in memory, so that clients are served while the disk is full. Rejects if nothing can be
 * written anywhere.
 */
export async function openPkiFolder(folder: string, log: Log): Promise<PkiFolder> {
  const missing = await missingOf(folder);
  if (missing.length === 0) return lasting(folder);
  try {
    await probe(folder);
    await removeEmpty(folder, missing);
    return lasting(folder);
  } catch (error) {
    const path = await temporaryFolder();
    await copyWhatIsThere(folder, path, log);
    log.error(
      { folder, missing, cause: describeError(error) },
      "OPC UA's key and certificate cannot be written: a certificate of this run only is used, and clients must trust it anew after the next start",
    );
    return {
      path,
      isTemporary: true,
      close: () =>
        rm(path, { recursive: true, force: true }).catch((cause: unknown) => {
          log.warn({ path, cause: describeError(cause) }, "a temporary folder with a key cannot be removed");
        }),
    };
  }
}

function lasting(path: string): PkiFolder {
  return { path, isTemporary: false, close: () => Promise.resolve() };
}

/** A file that a full disk has left empty counts as missing. */
async function missingOf(folder: string): Promise<readonly string[]> {
  const sizes = await Promise.all(MADE.map((name) => sizeOf(join(folder, name))));
  return MADE.filter((_, index) => !sizes[index]);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** node-opcua would leave empty files behind, and use them at the next start. */
async function probe(folder: string): Promise<void> {
  await makeFolder(folder);
  const path = join(folder, ".room");
  try {
    await writeFile(path, Buffer.alloc(PROBE_BYTES, 1), { flush: true });
  } finally {
    await rm(path, { force: true });
  }
}

async function removeEmpty(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(folder, name), { force: true });
}

async function temporaryFolder(): Promise<string> {
  let cause: unknown;
  for (const parent of elsewhere) {
    try {
      const path = await mkdtemp(join(parent, "fleetgate-pki-"));
      await probe(path);
      return path;
    } catch (error) {
      cause = error;
    }
  }
  throw new Error("OPC UA's key and certificate cannot be written anywhere", { cause });
}

/** The trusted clients stay the same. */
async function copyWhatIsThere(folder: string, path: string, log: Log): Promise<void> {
  try {
    await cp(folder, path, { recursive: true });
  } catch (error) {
    const isNew = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isNew) {
      log.error(
        { folder, cause: describeError(error) },
        "OPC UA's trust lists cannot be read whole: clients that were trusted may be refused in this run",
      );
    }
  }
  await removeEmpty(path, await missingOf(path));
}
