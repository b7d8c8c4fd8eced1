import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Clock } from "./clock.ts";
import { judgingMs } from "./clock-watch.ts";
import { messageOf } from "./error-text.ts";
import type { Log } from "./log.ts";

const oneCertificate = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * Why a PEM text is no certificate, as the end of a sentence; null: it is one. Checks the first of a chain.
 */
export function certificateProblem(text: string): string | null {
  if (!text.includes("-----BEGIN CERTIFICATE-----")) return "holds no certificate (PEM)";
  return isReadable(() => new X509Certificate(text)) ? null : "holds a certificate that cannot be read";
}

/** Each certificate of a file, in its order. */
export function certificatesIn(text: string): readonly string[] {
  return text.match(oneCertificate) ?? [];
}

const MONTH_MS = 30 * 86_400_000;

/** Why the certificates of a file are not valid at a time, or soon will not be, as the end of a sentence. */
export function validityProblem(
  text: string,
  nowMs: number,
): { readonly isOutdated: boolean; readonly message: string } | null {
  const certificates = certificatesIn(text).map((pem) => new X509Certificate(pem));
  const ended = certificates.find(({ validTo }) => Date.parse(validTo) <= nowMs);
  if (ended !== undefined) return { isOutdated: true, message: `has expired on ${ended.validTo}` };
  const early = certificates.find(({ validFrom }) => Date.parse(validFrom) > nowMs);
  if (early !== undefined) return { isOutdated: true, message: `is not valid before ${early.validFrom}` };
  const ending = certificates.find(({ validTo }) => Date.parse(validTo) - nowMs < MONTH_MS);
  return ending === undefined ? null : { isOutdated: false, message: `expires on ${ending.validTo}` };
}

/**
 * Why a PEM text is no private key that the gateway can use; null: it is one. Its content is never quoted.
 */
export function privateKeyProblem(text: string): string | null {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return "holds no private key (PEM)";
  if (/ENCRYPTED/.test(text)) return "holds a key with a passphrase; the gateway needs one without";
  return isReadable(() => createPrivateKey(text)) ? null : "holds a private key that cannot be read";
}

/** Whether the key belongs to the certificate. Both were checked before. */
export function belongTogether(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    // OpenSSL's message helps nobody, and may reveal something of a key.
    return false;
  }
}

/** PEM texts for connections to a server. */
export interface TlsTexts {
  /** The trusted CAs; null: the system's. */
  readonly ca: string | null;
  /** Our own certificate; null: none. */
  readonly clientCert: { readonly cert: string; readonly key: string } | null;
}

/** The paths of the files with those texts; null: there is none. */
export interface TlsPaths {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
}

/** Certificates that are read again when their files change. */
interface TlsFiles {
  /** The texts for the next connection. */
  current(): TlsTexts;
  /** Why the present files cannot be used; null: they are in use. */
  problem(): string | null;
  /** Checks whether the files have changed. Call it every `TLS_FILES_LOOK_MS`. */
  look(): Promise<void>;
}

export interface TlsFilesParts {
  /** When the program was built, by which the clock is judged; null: not known. */
  readonly builtAt: Date | null;
  readonly clock: Clock;
  readonly log: Log;
}

export const TLS_FILES_LOOK_MS = 10_000;
const LARGEST_BYTES = 1_000_000;

/**
 * A change counts when the next look finds the same files: certificate and key are never replaced in one
 * moment. Files that cannot be used change nothing.
 */
export function createTlsFiles(
  paths: TlsPaths,
  atStart: TlsTexts,
  { builtAt, clock, log }: TlsFilesParts,
): TlsFiles {
  const names = [paths.ca, paths.cert, paths.key].filter((path) => path !== null);
  let current = atStart;
  let problem: string | null = null;
  /** The stamps of the files that `current` or `problem` describes, and those of the last look. */
  let evaluated: string | null = null;
  let seen: string | null = null;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    const stamps = (await Promise.all(names.map(stampOf))).join(" ");
    evaluated ??= stamps;
    const isSettled = stamps === seen;
    seen = stamps;
    if (stamps === evaluated || !isSettled) return;
    evaluated = stamps;
    const read = await readTexts(paths, judgingMs(clock.nowMs(), builtAt));
    if ("problem" in read) {
      problem = `${read.problem}; the gateway goes on with what it has read before`;
      log.warn({}, problem);
      return;
    }
    problem = null;
    if (JSON.stringify(read.texts) === JSON.stringify(current)) return;
    current = read.texts;
    log.info({ files: names }, "the certificate files have changed: the next connection uses them");
  }

  return {
    current: () => current,
    problem: () => problem,
    look() {
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
  };
}

/** A text that changes when the file does; also for a missing file. */
async function stampOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return `${ino}/${size}/${mtimeMs}/${ctimeMs}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function readTexts(
  paths: TlsPaths,
  nowMs: number,
): Promise<{ readonly texts: TlsTexts } | { readonly problem: string }> {
  try {
    const [ca, cert, key] = await Promise.all([readOne(paths.ca), readOne(paths.cert), readOne(paths.key)]);
    const wrong =
      problemOf(paths.ca, ca, certificateProblem) ??
      problemOf(paths.cert, cert, certificateProblem) ??
      problemOf(paths.key, key, privateKeyProblem) ??
      problemOf(paths.cert, cert, (text) => outdatedProblem(text, nowMs));
    if (wrong !== null) return { problem: wrong };
    if (cert === null || key === null) return { texts: { ca, clientCert: null } };
    if (!belongTogether(cert, key)) return { problem: `${paths.key} is not the key of ${paths.cert}` };
    return { texts: { ca, clientCert: { cert, key } } };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

async function readOne(path: string | null): Promise<string | null> {
  if (path === null) return null;
  if ((await stat(path)).size > LARGEST_BYTES)
    throw new Error(`${path} is larger than ${LARGEST_BYTES} bytes`);
  return readFile(path, "utf8");
}

function problemOf(
  path: string | null,
  text: string | null,
  evaluate: (text: string) => string | null,
): string | null {
  const wrong = text === null ? null : evaluate(text);
  return wrong === null ? null : `${path} ${wrong}`;
}

function outdatedProblem(text: string, nowMs: number): string | null {
  const found = validityProblem(text, nowMs);
  return found?.isOutdated === true ? found.message : null;
}

/** Certificate and key as PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** The pair of a listener. */
export interface ListenerPair extends TlsPair {
  /** The paths of its files; absent: it comes from none. */
  readonly paths?: { readonly cert: string; readonly key: string };
}

/** OPC UA part 7: the minimum of every security policy that is not outdated. */
export const LEAST_RSA_BITS = 2_048;

/** What a weak certificate must be replaced with. */
export const STRONG_ENOUGH = "RSA with 2048 bits or more, or an elliptic curve, signed with SHA-256";

/**
 * Why TLS does not accept a certificate with its key, as the end of a sentence; null: it does. Newer versions
 * of OpenSSL refuse more than older ones.
 */
export function tlsProblem({ cert, key }: TlsPair): string | null {
  try {
    createSecureContext({ cert, key });
    return null;
  } catch (error) {
    const reason = messageOf(error);
    if (/key too small/i.test(reason))
      return `has a key that is too short for TLS: it needs ${STRONG_ENOUGH}`;
    if (/md too weak/i.test(reason))
      return `has a signature that is too weak for TLS (SHA-1 or MD5): it needs ${STRONG_ENOUGH}`;
    return `is not taken by TLS: ${reason}`;
  }
}

/** TLS does not accept the certificate of a listener; the message names it, and the reason. */
export class PairRefused extends Error {
  override readonly name = "PairRefused";
}

/**
 * The pair with which a listener begins. One that TLS does not accept is read again: its files may have
 * changed. Rejects with PairRefused.
 */
export async function acceptedPair({ paths, ...given }: ListenerPair): Promise<TlsPair> {
  const problem = tlsProblem(given);
  if (problem === null) return given;
  if (paths === undefined) throw new PairRefused(`its certificate ${problem}`);
  // The client checks the validity period. TLS of this side does not.
  const read = await readTexts({ ca: null, ...paths }, Number.NaN);
  if ("problem" in read) throw new PairRefused(read.problem);
  const pair = read.texts.clientCert ?? given;
  const now = tlsProblem(pair);
  if (now !== null) throw new PairRefused(`${paths.cert} ${now}`);
  return pair;
}
