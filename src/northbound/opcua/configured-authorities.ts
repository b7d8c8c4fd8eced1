import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../platform/make-folder.ts";
import type { OpcUaAuthorities } from "./options.ts";

/** The prefix of the files that the configuration made in these folders; an operator's own stay. */
const PREFIX = "configured-";

/**
 * Puts the CAs of the configuration into the folders of a certificate store, and removes those of an earlier
 * configuration. Rejects if the disk does not take all of it.
 */
export async function placeAuthorities(
  storeFolder: string,
  { trusted, issuers, revocationLists }: OpcUaAuthorities,
): Promise<void> {
  await place(join(storeFolder, "trusted", "certs"), trusted);
  await place(join(storeFolder, "issuers", "certs"), issuers);
  await place(join(storeFolder, "issuers", "crl"), revocationLists);
}

async function place(folder: string, texts: readonly string[]): Promise<void> {
  await makeFolder(folder);
  const wanted = new Map(texts.map((text, index) => [`${PREFIX}${index + 1}.pem`, `${text}\n`]));
  for (const name of await readdir(folder)) {
    if (name.startsWith(PREFIX) && !wanted.has(name)) await rm(join(folder, name));
  }
  for (const [name, text] of wanted) {
    const path = join(folder, name);
    // A full disk takes nothing, and need not if nothing has changed.
    if ((await readFile(path, "utf8").catch(() => null)) !== text)
      await writeFile(path, text, { flush: true });
  }
}
