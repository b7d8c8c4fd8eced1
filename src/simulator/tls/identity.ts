import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { join } from "node:path";
import {
  createAuthority,
  issueCertificate,
  type KeyedCertificate,
} from "../../platform/certificate-authority.ts";
import { readIfThere } from "../../platform/kept-file.ts";
import { writeWhole } from "../scenario/scenario.ts";

/** The files and texts for TLS, for the servers and for their clients. */
export interface TlsIdentity {
  /** Path of the CA's certificate, for clients. */
  readonly caFile: string;
  /** The authority's certificate, PEM. */
  readonly ca: string;
  /** The server's certificate, PEM. */
  readonly certificate: string;
  /** The server's private key, PEM. */
  readonly key: string;
}

interface IdentityOptions {
  readonly dataDir: string;
  /** Host names and addresses beyond localhost, 127.0.0.1 and ::1 that clients will use. */
  readonly extraNames: readonly string[];
  /** The machine's time, because peers check certificates by theirs. */
  readonly nowMs: number;
}

const RENEW_BEFORE_MS = 30 * 86_400_000;

/**
 * The CA and the server certificate of the data folder: made if they are missing, and otherwise kept. They
 * are renewed if they end within a month, do not belong together, or lack a name. Keys are readable by their
 * owner only.
 */
export async function loadIdentity(options: IdentityOptions): Promise<TlsIdentity> {
  const names = [...new Set(["localhost", "127.0.0.1", "::1", ...options.extraNames])];
  const { dataDir, nowMs } = options;
  const caFile = join(dataDir, "ca.pem");
  const authority =
    (await loadPair(dataDir, "ca", (certificate) => certificate.ca && isFresh(certificate, nowMs))) ??
    (await savePair(dataDir, "ca", await createCa(nowMs)));
  const issuer = new X509Certificate(authority.certificate);
  const server =
    (await loadPair(
      dataDir,
      "server",
      (certificate) =>
        isFresh(certificate, nowMs) && certificate.verify(issuer.publicKey) && covers(certificate, names),
    )) ?? (await savePair(dataDir, "server", await createServerCertificate(authority, names, nowMs)));
  return { caFile, ca: authority.certificate, certificate: server.certificate, key: server.key };
}

/** The stored pair; undefined: it is missing, unreadable or not suitable. */
async function loadPair(
  dataDir: string,
  name: string,
  passes: (certificate: X509Certificate) => boolean,
): Promise<KeyedCertificate | undefined> {
  const certificate = await readIfThere(join(dataDir, `${name}.pem`));
  const key = await readIfThere(join(dataDir, `${name}.key`));
  if (certificate === undefined || key === undefined) return undefined;
  const parsed = parsePair(certificate, key);
  return parsed !== undefined && passes(parsed) ? { certificate, key } : undefined;
}

async function savePair(dataDir: string, name: string, pair: KeyedCertificate): Promise<KeyedCertificate> {
  await writeWhole(join(dataDir, `${name}.key`), pair.key, "secret");
  await writeWhole(join(dataDir, `${name}.pem`), pair.certificate, "public");
  return pair;
}

/** The certificate, if it is one and the key belongs to it. */
function parsePair(pem: string, key: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(pem);
    return certificate.checkPrivateKey(createPrivateKey(key)) ? certificate : undefined;
  } catch {
    // A damaged file is replaced like a missing one: nothing else is lost with it.
    return undefined;
  }
}

function isFresh(certificate: X509Certificate, nowMs: number): boolean {
  return (
    Date.parse(certificate.validTo) - nowMs > RENEW_BEFORE_MS && Date.parse(certificate.validFrom) <= nowMs
  );
}

function covers(certificate: X509Certificate, names: readonly string[]): boolean {
  return names.every((name) =>
    isIP(name) === 0 ? certificate.checkHost(name) !== undefined : certificate.checkIP(name) !== undefined,
  );
}

const DAY_MS = 86_400_000;
const CA_LIFE_MS = 3_650 * DAY_MS;
// Some clients refuse server certificates that live longer than 398 days.
const SERVER_LIFE_MS = 397 * DAY_MS;

/** A CA of our own: it signs one server certificate and nothing else. */
export function createCa(nowMs: number): Promise<KeyedCertificate> {
  // A different name each time: the CAs of two simulators must not be confused.
  return createAuthority(`Fleetgate simulator CA ${randomBytes(4).toString("hex")}`, CA_LIFE_MS, nowMs);
}

/** A server certificate for `names` (host names and addresses), signed by `authority`. */
export function createServerCertificate(
  authority: KeyedCertificate,
  names: readonly string[],
  nowMs: number,
): Promise<KeyedCertificate> {
  const order = {
    commonName: "Fleetgate simulator",
    names,
    uses: ["server"],
    lifeMs: SERVER_LIFE_MS,
  } as const;
  return issueCertificate(authority, order, nowMs);
}
