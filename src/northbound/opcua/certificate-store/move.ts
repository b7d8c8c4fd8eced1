import { constants } from "node:fs";
import { lutimes, open, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { makeFolder } from "../../../platform/folder.ts";
import { putInPlace, replaceFile } from "../../../platform/kept-file.ts";
import { plainStart } from "../../../platform/plain-text.ts";
import type { CertificateFacts } from "./certificate-facts.ts";
import { CertificateRefused, isConfigured, type Place, places } from "./store.ts";

type Side = "rejected" | "trusted";

/** A certificate that can be moved. */
export interface Movable {
  /** Certificates of the configuration are never moved. */
  readonly place: Place | "configuration";
  readonly path: string;
  readonly facts: CertificateFacts;
  readonly warnings: readonly string[];
}

/** The result for one certificate. */
export interface Moved {
  readonly thumbprint: string;
  readonly subject: string;
  /** False: it was there already. */
  readonly isNew: boolean;
  readonly isCa: boolean;
  readonly applicationUri: string | null;
  readonly warnings: readonly string[];
}

/**
 * Moves the certificates with these thumbprints into the folder `to` of a store, so that a running gateway
 * sees each at once. All of them are looked up first: if one is missing, nothing is moved.
 */
export async function moveCertificates(
  store: string,
  certificates: readonly Movable[],
  wanted: readonly string[],
  to: Side,
): Promise<readonly Moved[]> {
  const ofClients = certificates.filter(({ place }) => place === "rejected" || place === "trusted");
  const chosen = wanted.map((each) => select(ofClients, each));
  for (const copies of chosen) refuseConfigured(copies);
  const moved = [];
  for (const copies of chosen) moved.push(await moveOne(join(store, places[to]), copies, to));
  return moved;
}

function refuseConfigured(copies: readonly Movable[]): void {
  const configured = copies.find(({ place, path }) => place === "trusted" && isConfigured(path));
  if (configured !== undefined) {
    throw new CertificateRefused(
      `${configured.facts.thumbprint} is a CA of the configuration: change the file of opcua.trustedCas, and restart the gateway`,
    );
  }
}

async function moveOne(folder: string, copies: readonly Movable[], to: Side): Promise<Moved> {
  const [first] = copies;
  if (first === undefined) throw new Error("nothing was selected");
  const { thumbprint, subject, isCa, applicationUri } = first.facts;
  const elsewhere = copies.filter(({ place }) => place !== to);
  let isThere = copies.some(({ place }) => place === to);
  const isNew = elsewhere.length > 0;
  for (const { path } of elsewhere) {
    // A copy among the rejected ones would keep the client out.
    if (isThere) await rm(path);
    else await moveFile(path, folder, thumbprint);
    isThere = true;
  }
  return { thumbprint, subject, isNew, isCa, applicationUri, warnings: first.warnings };
}

async function moveFile(path: string, folder: string, thumbprint: string): Promise<void> {
  await makeFolder(folder);
  await makeOwn(path, folder);
  const nowS = Date.now() / 1_000;
  await lutimes(path, nowS, nowS);
  const end = extname(path);
  const name = basename(path, end);
  // The gateway finds the files of its clients by the thumbprint in their names.
  const wanted = name.toLowerCase().includes(thumbprint) ? name : `${name}[${thumbprint}]`;
  await putInPlace(path, join(folder, await freeName(folder, wanted, end)));
}

/** A free file name: another client's file may have this one, and a rename would replace it. */
async function freeName(folder: string, name: string, end: string): Promise<string> {
  const taken = new Set(await readdir(folder));
  for (let number = 1; ; number += 1) {
    const wanted = `${name}${number === 1 ? "" : `-${number}`}${end}`;
    if (!taken.has(wanted)) return wanted;
  }
}

const READ_AND_WRITE = 0o666;

/**
 * Makes the user of the folder the owner of a file, with the mode for that folder, so that the service can
 * read what root has put there. Follows no link.
 */
async function makeOwn(path: string, folder: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      const isLink = error instanceof Error && "code" in error && error.code === "ELOOP";
      throw isLink
        ? new CertificateRefused(
            `${plainStart(path, 400)} is a link: put the file itself into ${dirname(path)}`,
          )
        : error;
    },
  );
  try {
    const [about, wanted] = [await file.stat(), await stat(folder)];
    if (!about.isFile() || about.nlink > 1)
      throw new CertificateRefused(`${plainStart(path, 400)} is no file of its own: copy it, and remove it`);
    const mode = wanted.mode & READ_AND_WRITE;
    if (about.uid === process.geteuid?.()) await file.chmod(mode);
    else await replaceFile(path, await file.readFile(), { mode });
  } finally {
    await file.close();
  }
}

/** An object with a certificate. */
interface Candidate {
  readonly facts: CertificateFacts;
}

const SHORTEST_PREFIX = 4;

/**
 * The candidates with the one thumbprint that matches: SHA-1 or SHA-256, as a whole or its beginning, with or
 * without colons and spaces. Throws CertificateRefused if none matches, or several do.
 */
export function select<T extends Candidate>(candidates: readonly T[], wanted: string): readonly T[] {
  const prefix = wanted.replaceAll(/[\s:]/g, "").toLowerCase();
  if (!/^[0-9a-f]+$/.test(prefix) || prefix.length < SHORTEST_PREFIX) {
    throw new CertificateRefused(
      `${JSON.stringify(plainStart(wanted, 80))} is no thumbprint: give at least its first ${SHORTEST_PREFIX} hexadecimal digits, as fleetgate certs list shows them`,
      true,
    );
  }
  const found = candidates.filter(
    ({ facts }) => facts.thumbprint.startsWith(prefix) || facts.sha256.startsWith(prefix),
  );
  const different = new Map(found.map(({ facts }) => [facts.thumbprint, facts]));
  if (different.size === 0)
    throw new CertificateRefused(
      `no certificate has the thumbprint ${prefix}: fleetgate certs list shows all`,
    );
  if (different.size > 1) {
    const lines = [...different.values()].map(
      ({ thumbprint, subject }) => `\n  ${thumbprint}  ${plainStart(subject, 200)}`,
    );
    throw new CertificateRefused(
      `${prefix} fits ${different.size} certificates; give more of it:${lines.join("")}`,
    );
  }
  return found;
}
