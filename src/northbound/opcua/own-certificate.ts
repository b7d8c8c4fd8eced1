import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { OPCUACertificateManager } from "node-opcua";
import { putInPlace } from "../../platform/kept-file.ts";
import { describeError, type Log } from "../../platform/log.ts";
import { type CertificateContent, missingNames, namesToCertify } from "./certificate-content.ts";

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
    const names = namesToCertify(content);
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

async function renewalReason(
  certificate: X509Certificate | null,
  keyFile: string,
  { applicationUri, names }: CertificateContent,
  nowMs: number,
): Promise<string | null> {
  if (certificate === null) return "there is none";
  if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile)))) return "the key is another";
  const missing = missingNames(certificate, names);
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
