import { X509Certificate } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Anybody who reaches the port can make certificates: the newest ones wait for approval. */
const MOST_REJECTED = 200;

/** The folders of a certificate store that are needed here. */
export interface StoreFolders {
  readonly rejectedFolder: string;
  readonly trustedFolder: string;
}

/**
 * Removes the oldest rejected certificates beyond 200. Without their files their clients are unknown, and
 * refused too. A certificate of a trusted CA stays, because its client would be admitted without it.
 */
export async function pruneRejected({ rejectedFolder, trustedFolder }: StoreFolders): Promise<void> {
  const names = await readdir(rejectedFolder);
  const surplus = names.length - MOST_REJECTED;
  if (surplus <= 0) return;
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(rejectedFolder, name);
      return { path, atMs: (await stat(path)).mtimeMs };
    }),
  );
  files.sort((a, b) => a.atMs - b.atMs);
  const authorities = await certificatesOf(trustedFolder);
  for (const { path } of files.slice(0, surplus))
    if (!(await isSigned(path, authorities))) await rm(path, { force: true });
}

async function isSigned(path: string, authorities: readonly X509Certificate[]): Promise<boolean> {
  const certificate = await readCertificate(path);
  if (certificate === null) return false;
  return authorities.some((each) => certificate.checkIssued(each) && certificate.verify(each.publicKey));
}

async function certificatesOf(folder: string): Promise<readonly X509Certificate[]> {
  const read = await Promise.all((await readdir(folder)).map((name) => readCertificate(join(folder, name))));
  return read.filter((each) => each !== null);
}

/** Null: it holds no readable certificate, or somebody has moved it meanwhile. */
async function readCertificate(path: string): Promise<X509Certificate | null> {
  try {
    return new X509Certificate(await readFile(path));
  } catch {
    return null;
  }
}
