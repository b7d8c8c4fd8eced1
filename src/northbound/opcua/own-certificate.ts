import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { domainToASCII } from "node:url";
import type { OPCUACertificateManager } from "node-opcua";
import { putInPlace } from "../../platform/kept-file.ts";
import { describeError, type Log } from "../../platform/log.ts";

/** What the server's certificate must say. */
export interface CertificateContent {
  readonly applicationUri: string;
  /** Host names and addresses by which clients reach the server. */
  readonly names: readonly string[];
}

const DAY_MS = 86_400_000;
const LIFE_DAYS = 3_650;
/** Clients have a month to trust the next one, if they know when it comes. */
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** Clocks of clients are a little off: a certificate made now is valid since yesterday. */
const BACKDATE_MS = DAY_MS;

/** The certificate that the gateway makes for itself, in the folder of `manager`. */
export function ownCertificateFile(manager: OPCUACertificateManager): string {
  return join(manager.rootDir, "own/certs/certificate.pem");
}

/**
 * Makes the server's own certificate, or renews it with the same key when it no longer says what it must, or
 * ends within 30 days. One that an authority has signed is left alone. Resolves with whether there is a new
 * one.
 * @param manager an initialised one, which has the key
 */
export async function keepOwnCertificate(
  manager: OPCUACertificateManager,
  content: CertificateContent,
  nowMs: number,
  log: Log,
): Promise<boolean> {
  const file = ownCertificateFile(manager);
  const existing = await readCertificate(file);
  const reason = await renewalReason(existing, manager.privateKey, content, nowMs);
  if (reason === null) return false;
  if (existing !== null && existing.issuer !== existing.subject) {
    log.warn({ file, reason }, "OPC UA's certificate is not the gateway's own to renew");
    return false;
  }
  const made = `${file}.new`;
  try {
    await rm(made, { force: true });
    const names = [...new Set([...content.names, ...addresses()].map(encodedHost))];
    await manager.createSelfSignedCertificate({
      applicationUri: content.applicationUri,
      dns: names.filter((name) => isIP(name) === 0),
      ip: names.filter((name) => isIP(name) !== 0),
      subject: "/CN=Fleetgate/O=Fleetgate",
      startDate: new Date(nowMs - BACKDATE_MS),
      validity: LIFE_DAYS,
      outputFile: made,
    });
    await putInPlace(made, file);
  } catch (error) {
    // Without any certificate there is no server; with an old one there is one that some clients refuse.
    if (existing === null) throw error;
    log.error({ file, reason, cause: describeError(error) }, "OPC UA's certificate cannot be renewed");
    return false;
  }
  if (existing !== null) {
    log.warn(
      { reason, thumbprint: (await readCertificate(file))?.fingerprint },
      "OPC UA's certificate was renewed: clients that trust the old one must trust this one",
    );
  }
  return true;
}

/**
 * Whether a certificate names a host, as clients compare it: a name, or an address with or without brackets.
 */
export function namesHost(certificate: X509Certificate, host: string): boolean {
  const bare = encodedHost(host.replace(/^\[(.*)\]$/, "$1"));
  const match = isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare);
  return match !== undefined;
}

/** A name as it stands in certificates and travels in DNS: `gäte.example` is `xn--gte-qla.example`. */
function encodedHost(host: string): string {
  return /^[\x20-\x7e]*$/.test(host) ? host : domainToASCII(host) || host;
}

async function renewalReason(
  certificate: X509Certificate | null,
  keyFile: string,
  { applicationUri, names }: CertificateContent,
  nowMs: number,
): Promise<string | null> {
  if (certificate === null) return "there is none";
  if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile)))) return "the key is another";
  const missing = names.filter((name) => !namesHost(certificate, name));
  if (missing.length > 0) return `it does not name ${missing.join(", ")}`;
  if (!certificate.subjectAltName?.includes(`URI:${applicationUri}`))
    return `it is not for ${applicationUri}`;
  if (Date.parse(certificate.validFrom) > nowMs) return `it is not valid before ${certificate.validFrom}`;
  if (Date.parse(certificate.validTo) - nowMs < RENEW_BEFORE_MS) return `it ends on ${certificate.validTo}`;
  return null;
}

async function readCertificate(file: string): Promise<X509Certificate | null> {
  try {
    return new X509Certificate(await readFile(file));
  } catch {
    // Not there, empty, or torn: all of these are made anew.
    return null;
  }
}

/** Addresses of this machine now. They come and go, so that a certificate is not renewed for them. */
function addresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.startsWith("fe80:"));
}
