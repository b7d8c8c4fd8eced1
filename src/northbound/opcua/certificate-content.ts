import type { X509Certificate } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { domainToASCII } from "node:url";
import { makeFolder } from "../../platform/folder.ts";
import { bareHost } from "../../platform/url-host.ts";
import type { OpcUaOptions, OpcUaTrustList } from "./options.ts";

/** The required content of the server's certificate. */
export interface CertificateContent {
  readonly applicationUri: string;
  /** Host names and addresses by which clients reach the server. */
  readonly names: readonly string[];
  /** One of these names that nobody has chosen: the machine's present name. A certificate may lack it. */
  readonly assumedName?: string;
}

/** Wildcard addresses, which no client can use. */
const unspecified: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** The names by which clients reach the server: those of the configuration, and those of this machine. */
export function contentOf({
  applicationUri,
  host,
  hostname,
  isHostnameAssumed,
  alternateHostnames,
}: Pick<
  OpcUaOptions,
  "applicationUri" | "host" | "hostname" | "isHostnameAssumed" | "alternateHostnames"
>): CertificateContent {
  const bound = isIP(host) !== 0 && !unspecified.has(host) ? [host] : [];
  const names = [hostname, ...alternateHostnames, "localhost", ...bound];
  return {
    applicationUri,
    names: names.map(bareHost),
    ...(isHostnameAssumed === true ? { assumedName: hostname } : {}),
  };
}

/** The names for a new certificate, with the addresses of this machine, each once. */
export function namesToCertify({ names }: CertificateContent): readonly string[] {
  return [...new Set([...names, ...addresses()].map(encodedHost))];
}

/** The names that a certificate lacks. */
export function missingNames(certificate: X509Certificate, names: readonly string[]): readonly string[] {
  return names.filter((name) => !namesHost(certificate, name));
}

/**
 * Whether a certificate names a host, as clients compare it: a name, or an address with or without brackets.
 */
export function namesHost(certificate: X509Certificate, host: string): boolean {
  const bare = encodedHost(bareHost(host));
  const match = isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare);
  return match !== undefined;
}

/** A name in the encoding of certificates and DNS: `gäte.example` is `xn--gte-qla.example`. */
function encodedHost(host: string): string {
  return /^[\x20-\x7e]*$/.test(host) ? host : domainToASCII(host) || host;
}

/** The present addresses of this machine. They change, so a certificate is not renewed for them. */
function addresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.startsWith("fe80:"));
}

/** The prefix of the files that the configuration made in these folders; an operator's own stay. */
const PREFIX = "configured-";

/**
 * Puts the CAs of the configuration into the folders of a certificate store, and removes those of an earlier
 * configuration. Rejects if the disk does not take all of it.
 */
export async function placeTrustList(
  storeFolder: string,
  { trusted, issuers, revocationLists }: OpcUaTrustList,
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
