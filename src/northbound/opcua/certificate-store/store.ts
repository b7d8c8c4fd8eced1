import type { X509Certificate } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isCode, PlainError } from "../../../platform/error-text.ts";
import { type CertificateFacts, certificatesOf, factsOf } from "./certificate-facts.ts";

/** The place of a certificate in the OPC UA server's store. */
export type Place = "own" | "next" | "rejected" | "trusted" | "issuers";

/** The folders and files below `<dataDir>/opcua/server`. */
export const places: Readonly<Record<Place, string>> = {
  own: "own/certs/certificate.pem",
  next: "own/certs/next.pem",
  rejected: "rejected",
  trusted: "trusted/certs",
  issuers: "issuers/certs",
};

/** A file of the store, readable or not. */
export interface StoredCertificate {
  readonly place: Place;
  readonly path: string;
  /** When the file was written, as ISO 8601. */
  readonly since: string;
  readonly content: FileContent;
}

/** The first certificate of a file, which is that of its owner; or why there is none. */
export type FileContent =
  | { readonly facts: CertificateFacts; readonly certificate: X509Certificate }
  | { readonly damage: string };

const LARGEST_FILE_BYTES = 1_000_000;

/** Whether the gateway has made the file from the CAs of the configuration. */
export function isConfigured(path: string): boolean {
  return /(^|[\\/])configured-\d+\.pem$/.test(path);
}

export function storeFolder(dataDir: string): string {
  return join(dataDir, "opcua", "server");
}

/** Every certificate of the store, the oldest of each folder first. Rejects if the folders cannot be read. */
export async function readStore(folder: string, nowMs: number): Promise<readonly StoredCertificate[]> {
  const found = [];
  for (const place of Object.keys(places) as Place[])
    found.push(...(await readPlace(place, join(folder, places[place]), nowMs)));
  return found;
}

async function readPlace(place: Place, path: string, nowMs: number): Promise<StoredCertificate[]> {
  const paths = place === "own" || place === "next" ? [path] : await filesOf(path);
  const read = await Promise.all(paths.map((each) => readStored(place, each, nowMs)));
  return read.filter((each) => each !== null).sort((a, b) => (a.since < b.since ? -1 : 1));
}

async function filesOf(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort().map((name) => join(folder, name));
  } catch (error) {
    if (isCode(error, "ENOENT")) return [];
    throw error;
  }
}

/** Null: the gateway has moved it meanwhile. */
async function readStored(place: Place, path: string, nowMs: number): Promise<StoredCertificate | null> {
  try {
    // Otherwise opening a pipe without a writer would block.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const about = await file.stat();
      const stored = { place, path, since: about.mtime.toISOString() };
      if (!about.isFile()) return { ...stored, content: { damage: "is no file" } };
      if (about.size > LARGEST_FILE_BYTES)
        return { ...stored, content: { damage: `is larger than ${LARGEST_FILE_BYTES} bytes` } };
      return { ...stored, content: readContent(await file.readFile(), nowMs) };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    // Its folder can be read, so only this file is unreadable, as a copy of root's.
    if (isCode(error, "EACCES") && place !== "own" && place !== "next")
      return { place, path, since: "", content: { damage: "cannot be read by the gateway's user" } };
    throw error;
  }
}

/** The certificate in a file, PEM or DER. */
function readContent(content: Buffer, nowMs: number): FileContent {
  if (content.length === 0) return { damage: "is empty" };
  try {
    const [certificate] = certificatesOf(content);
    if (certificate === undefined) return { damage: "holds no certificate" };
    return { certificate, facts: factsOf(certificate, nowMs) };
  } catch {
    return { damage: "holds no certificate that can be read" };
  }
}

/** Why certificates cannot be moved, or why the choice is not clear, as a sentence. */
export class CertificateRefused extends PlainError {
  override readonly name = "CertificateRefused";
  override readonly ending: "failure" | "usage";

  /** `isMalformed`: the text is no thumbprint at all. */
  constructor(message: string, isMalformed = false) {
    super(message);
    this.ending = isMalformed ? "usage" : "failure";
  }
}
