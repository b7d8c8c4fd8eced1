import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../platform/folder.ts";

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

/**
 * Prepares the folder of the server's key, its certificate and its trust lists. Resolves if the server can
 * start with it: all files exist, or can be written.
 */
export async function preparePkiFolder(folder: string): Promise<void> {
  const sizes = await Promise.all(MADE.map((name) => sizeOf(join(folder, name))));
  // A file that a full disk has left empty counts as missing.
  const missing = MADE.filter((_name, index) => !sizes[index]);
  if (missing.length === 0) return;
  await probe(folder);
  for (const name of missing) await rm(join(folder, name), { force: true });
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
