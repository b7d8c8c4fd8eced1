import { createPrivateKey, X509Certificate } from "node:crypto";
import { copyFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OPCUACertificateManager } from "node-opcua";
import { type Clock, every } from "../../platform/clock.ts";
import { clockText, isBeforeBuild } from "../../platform/clock-watch.ts";
import { describeError } from "../../platform/error-text.ts";
import { putInPlace } from "../../platform/kept-file.ts";
import type { Log } from "../../platform/log.ts";
import { type CertificateContent, missingNames } from "./certificate-content.ts";

const DAY_MS = 86_400_000;
/** Clients have a month to trust the next certificate before it replaces the present one. */
const PREPARE_BEFORE_MS = 60 * DAY_MS;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** A clock that is further ahead of the program's build counts as wrong: 2038, 2069, 2106. */
const LATEST_AFTER_BUILD_MS = 3_650 * DAY_MS;
/** How soon the server uses a certificate that `fleetgate certs` has installed. */
const LOOK_MS = 5_000;

/** The file of the certificate that the gateway makes for itself, in the folder of `manager`. */
export function ownCertificateFile(manager: Pick<OPCUACertificateManager, "rootDir">): string {
  return join(manager.rootDir, "own/certs/certificate.pem");
}

/** The file of the next certificate. Clients may trust it before. */
function nextCertificateFile(manager: Pick<OPCUACertificateManager, "rootDir">): string {
  return join(manager.rootDir, "own/certs/next.pem");
}

type Keys = Pick<OPCUACertificateManager, "rootDir" | "privateKey">;

/** The time of the machine's clock, and when the program was built. */
export interface CertificateTimes {
  readonly nowMs: number;
  readonly builtAtMs: number;
}

/**
 * Makes the server's own certificate, or renews it with the same key if its content is out of date, or if it
 * ends within 30 days. The next one is made 60 days before the end, and lies beside it. A certificate that a
 * CA has signed is replaced only by a next one that a CA has signed too. The replaced one is kept beside it.
 * An impossible clock, and another name of the machine, cause no replacement, because clients trust the
 * present one. Resolves with whether there is a new one. Rejects if there is none: with a clock before the
 * program's build none is made.
 *
 * @param manager an initialised one, which has the key
 */
export async function keepOwnCertificate(
  manager: Keys,
  content: CertificateContent,
  times: CertificateTimes,
  log: Log,
): Promise<boolean> {
  const nowMs = plausibleMs(times);
  const file = ownCertificateFile(manager);
  const next = nextCertificateFile(manager);
  const existing = await readCertificate(file);
  if (isBeforeBuild(times.nowMs, times.builtAtMs)) {
    if (existing === null || !(await isOfKey(existing, manager.privateKey)))
      throw new Error(
        `the first one is made when the clock is right: ${clockText(times.nowMs, times.builtAtMs)}`,
      );
    warnOfDoubts(file, existing, content, times, log);
    return false;
  }
  const reason = await renewalReason(existing, manager.privateKey, content, nowMs);
  const isIssued = existing !== null && !isSelfSigned(existing);
  if (existing !== null && reason === null) warnOfDoubts(file, existing, content, times, log);
  try {
    const prepared = await readCertificate(next);
    const isPrepared =
      prepared !== null &&
      Date.parse(prepared.validFrom) <= nowMs &&
      (await renewalReason(prepared, manager.privateKey, content, nowMs)) === null;
    if (reason === null) {
      if (existing !== null && !isPrepared) await prepare(manager, existing, content, nowMs, log);
      return false;
    }
    const isNextUsed = isPrepared && !(isIssued && isSelfSigned(prepared));
    if (!isNextUsed && isIssued) {
      log.warn({ file, reason }, "OPC UA's certificate is not the gateway's own to renew");
      return false;
    }
    if (existing !== null) await keepReplaced(file, existing);
    if (isNextUsed) await putInPlace(next, file);
    else await make(manager.privateKey, content, nowMs, file);
  } catch (error) {
    // Without any certificate there is no server; with an old one some clients refuse it.
    if (existing === null) throw error;
    log.error({ file, reason, cause: describeError(error) }, "OPC UA's certificate cannot be renewed");
    return false;
  }
  if (existing !== null) {
    log.warn(
      {
        reason,
        thumbprint: (await readCertificate(file))?.fingerprint,
        replaced: replacedFile(file, existing),
      },
      "OPC UA's certificate was renewed: clients that trust the old one must trust this one",
    );
  }
  return true;
}

function warnOfDoubts(
  file: string,
  existing: X509Certificate,
  content: CertificateContent,
  times: CertificateTimes,
  log: Log,
): void {
  for (const doubt of doubtsOf(existing, content, times))
    log.warn({ file, doubt }, "OPC UA's certificate stays as it is, since clients trust it");
}

/** The machine's clock, or the time of the build if that clock cannot be right. */
function plausibleMs({ nowMs, builtAtMs }: CertificateTimes): number {
  return nowMs < builtAtMs || nowMs > builtAtMs + LATEST_AFTER_BUILD_MS ? builtAtMs : nowMs;
}

/** Why it would be replaced if the clock were right and the machine's name final. */
function doubtsOf(
  certificate: X509Certificate,
  { assumedName }: CertificateContent,
  times: CertificateTimes,
): readonly string[] {
  const isWrong = plausibleMs(times) !== times.nowMs;
  const isEarly = Date.parse(certificate.validFrom) > times.nowMs;
  const lacksName = assumedName !== undefined && missingNames(certificate, [assumedName]).length > 0;
  return [
    isWrong ? clockText(times.nowMs, times.builtAtMs) : null,
    isEarly && !isWrong
      ? `it is not valid before ${certificate.validFrom}: set the clock, or make another by fleetgate certs renew and activate`
      : null,
    lacksName
      ? `it does not name ${assumedName}, as this machine is called now: set opcua.hostname to the name that clients use`
      : null,
  ].filter((doubt) => doubt !== null);
}

function replacedFile(file: string, { fingerprint256 }: X509Certificate): string {
  return `${file.replace(/\.pem$/, "")}-${fingerprint256.replaceAll(":", "").slice(0, 16).toLowerCase()}.pem`;
}

/** For a manual return to it: its key is still in use. */
async function keepReplaced(file: string, existing: X509Certificate): Promise<void> {
  const kept = replacedFile(file, existing);
  await copyFile(file, `${kept}.new`);
  await putInPlace(`${kept}.new`, kept);
}

/** Makes the next certificate of a self-signed one whose end is near. */
async function prepare(
  manager: Keys,
  existing: X509Certificate,
  content: CertificateContent,
  nowMs: number,
  log: Log,
): Promise<void> {
  const endMs = Date.parse(existing.validTo);
  if (!isSelfSigned(existing) || endMs - nowMs >= PREPARE_BEFORE_MS) return;
  const next = nextCertificateFile(manager);
  await make(manager.privateKey, content, nowMs, next);
  log.warn(
    {
      thumbprint: (await readCertificate(next))?.fingerprint,
      file: next,
      inUseFrom: new Date(endMs - RENEW_BEFORE_MS).toISOString(),
    },
    "OPC UA's next certificate is made: let clients trust it before it is used",
  );
}

async function make(
  keyFile: string,
  content: CertificateContent,
  nowMs: number,
  file: string,
): Promise<void> {
  // Most starts make none, and need no memory for it.
  const { selfSigned } = await import("./made-certificate.ts");
  const draft = `${file}.new`;
  await writeFile(draft, await selfSigned(await readFile(keyFile, "utf8"), content, nowMs));
  await putInPlace(draft, file);
}

/**
 * Calls `onChange` when another certificate of the server's key is installed: `fleetgate certs` works beside
 * a running gateway.
 */
export function watchOwnCertificate(
  manager: Keys,
  clock: Clock,
  signal: AbortSignal,
  log: Log,
  onChange: () => void,
): void {
  const file = ownCertificateFile(manager);
  let seen: string | null = null;

  async function look(): Promise<void> {
    const { ino, mtimeMs, size } = await stat(file);
    const now = `${ino} ${mtimeMs} ${size}`;
    const before = seen;
    seen = now;
    if (before === null || before === now) return;
    const certificate = await readCertificate(file);
    if (certificate === null || !(await isOfKey(certificate, manager.privateKey))) {
      log.error({ file }, "OPC UA's new certificate is not one of its key: the one before stays in use");
      return;
    }
    onChange();
    log.info({ thumbprint: certificate.fingerprint }, "OPC UA shows another certificate");
  }

  const lookAgain = () => {
    look().catch((error: unknown) => {
      log.debug({ file, cause: describeError(error) }, "OPC UA's certificate cannot be looked at");
    });
  };
  lookAgain();
  every(clock, LOOK_MS, signal, lookAgain);
}

function isSelfSigned({ issuer, subject }: X509Certificate): boolean {
  return issuer === subject;
}

async function isOfKey(certificate: X509Certificate, keyFile: string): Promise<boolean> {
  return certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile)));
}

async function renewalReason(
  certificate: X509Certificate | null,
  keyFile: string,
  { applicationUri, names, assumedName }: CertificateContent,
  nowMs: number,
): Promise<string | null> {
  if (certificate === null) return "there is none";
  if (!(await isOfKey(certificate, keyFile))) return "the key is another";
  const missing = missingNames(
    certificate,
    names.filter((name) => name !== assumedName),
  );
  if (missing.length > 0) return `it does not name ${missing.join(", ")}`;
  if (!certificate.subjectAltName?.split(", ").includes(`URI:${applicationUri}`))
    return `it is not for ${applicationUri}`;
  if (Date.parse(certificate.validTo) - nowMs < RENEW_BEFORE_MS) return `it ends on ${certificate.validTo}`;
  return null;
}

async function readCertificate(file: string): Promise<X509Certificate | null> {
  try {
    return new X509Certificate(await readFile(file));
  } catch {
    // Missing, empty or truncated: in all these cases a new one is made.
    return null;
  }
}
