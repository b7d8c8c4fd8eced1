// The x509 library needs this polyfill before it is loaded.
import "reflect-metadata";
import { createHash, X509Certificate } from "node:crypto";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate as ParsedCertificate,
  SubjectAlternativeNameExtension,
} from "@peculiar/x509";
import { certificatesIn, LEAST_RSA_BITS } from "../../../platform/tls-files.ts";

/** The contents of a certificate. Its owner wrote the texts: show them through `plainStart`. */
export interface CertificateFacts {
  /** SHA-1 of the DER form in hexadecimal, as OPC UA tools show it. */
  readonly thumbprint: string;
  readonly sha256: string;
  readonly subject: string;
  readonly issuer: string;
  readonly serial: string;
  readonly isSelfSigned: boolean;
  readonly isCa: boolean;
  /** The URI that names an OPC UA application; null: it has none. */
  readonly applicationUri: string | null;
  /** How many URIs it has: a valid one has one. */
  readonly uriCount: number;
  /** Host names and addresses. */
  readonly names: readonly string[];
  /** As ISO 8601. */
  readonly validFrom: string;
  readonly validTo: string;
  readonly daysLeft: number;
  readonly key: string;
  readonly keyUsage: readonly string[];
  readonly extendedKeyUsage: readonly string[];
  readonly signature: string;
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 60;

/** Each certificate of a file, PEM or DER; throws if one cannot be read. */
export function certificatesOf(content: Buffer): readonly X509Certificate[] {
  const texts = certificatesIn(content.toString("latin1"));
  const sources = texts.length === 0 ? [content] : texts;
  return sources.map((source) => new X509Certificate(source));
}

/** SHA-1 of the DER form in hexadecimal, as OPC UA tools show it. */
export function thumbprintOf(der: Buffer): string {
  return createHash("sha1").update(der).digest("hex");
}

/** Throws if the extensions of the certificate cannot be read. */
export function factsOf(certificate: X509Certificate, nowMs: number): CertificateFacts {
  const parsed = new ParsedCertificate(new Uint8Array(certificate.raw));
  const alternatives = parsed.getExtension(SubjectAlternativeNameExtension)?.names.items ?? [];
  const uris = alternatives.filter(({ type }) => type === "url");
  const endMs = Date.parse(certificate.validTo);
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
  const size = asymmetricKeyDetails?.modulusLength ?? asymmetricKeyDetails?.namedCurve;
  return {
    thumbprint: thumbprintOf(certificate.raw),
    sha256: createHash("sha256").update(certificate.raw).digest("hex"),
    subject: parsed.subject,
    issuer: parsed.issuer,
    serial: certificate.serialNumber.toLowerCase(),
    isSelfSigned: parsed.subject === parsed.issuer,
    isCa: parsed.getExtension(BasicConstraintsExtension)?.ca ?? false,
    applicationUri: uris[0]?.value ?? null,
    uriCount: uris.length,
    names: alternatives.filter(({ type }) => type === "dns" || type === "ip").map(({ value }) => value),
    validFrom: new Date(certificate.validFrom).toISOString(),
    validTo: new Date(endMs).toISOString(),
    daysLeft: Math.floor((endMs - nowMs) / DAY_MS),
    key: `${(asymmetricKeyType ?? "unknown").toUpperCase()}${size === undefined ? "" : ` ${size}`}`,
    keyUsage: usagesOf(parsed.getExtension(KeyUsagesExtension)?.usages ?? 0),
    extendedKeyUsage: (parsed.getExtension(ExtendedKeyUsageExtension)?.usages ?? []).map(usageName),
    signature: signatureOf(parsed),
  };
}

function usagesOf(flags: number): readonly string[] {
  return Object.entries(KeyUsageFlags).flatMap(([name, flag]) =>
    typeof flag === "number" && (flags & flag) !== 0 ? [name] : [],
  );
}

const extendedUsages: Readonly<Record<string, string>> = {
  "1.3.6.1.5.5.7.3.1": "serverAuth",
  "1.3.6.1.5.5.7.3.2": "clientAuth",
};

function usageName(oid: unknown): string {
  return extendedUsages[String(oid)] ?? String(oid);
}

function signatureOf({ signatureAlgorithm }: ParsedCertificate): string {
  const { name, hash } = signatureAlgorithm as {
    readonly name: string;
    readonly hash?: { readonly name?: string };
  };
  return [name, hash?.name].filter(Boolean).join(" with ");
}

/** What the configuration requires of our own certificate. */
export interface Wanted {
  readonly applicationUri: string;
  readonly missingNames: readonly string[];
}

const applicationUsages = ["digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment"];

/**
 * Why other OPC UA applications would refuse a certificate, each as a sentence.
 *
 * @param wanted for our own certificate
 */
export function applicationWarnings(facts: CertificateFacts, nowMs: number, wanted?: Wanted): string[] {
  const warnings = validityWarnings(facts, nowMs);
  const bits = Number(/^RSA(?:-PSS)? (\d+)$/.exec(facts.key)?.[1] ?? 0);
  if (bits < LEAST_RSA_BITS)
    warnings.push(`its key is ${facts.key}: OPC UA needs RSA with at least ${LEAST_RSA_BITS} bits`);
  if (/SHA-?1$/.test(facts.signature)) warnings.push("it is signed with SHA-1, which is refused");
  // A CA signs the certificates of applications, and is no application itself.
  if (facts.isCa && !facts.isSelfSigned) return warnings;
  if (facts.applicationUri === null)
    warnings.push("it names no application: OPC UA needs a URI in its subjectAltName");
  if (facts.uriCount > 1)
    warnings.push(`it has ${facts.uriCount} URIs in its subjectAltName: OPC UA allows one`);
  const missing = facts.isCa ? [] : applicationUsages.filter((usage) => !facts.keyUsage.includes(usage));
  if (missing.length > 0) warnings.push(`its key usage lacks ${missing.join(", ")}`);
  if (wanted === undefined) return warnings;
  if (facts.applicationUri !== null && facts.applicationUri !== wanted.applicationUri)
    warnings.push(`it is for ${facts.applicationUri}, and the gateway is ${wanted.applicationUri}`);
  if (wanted.missingNames.length > 0) warnings.push(`it does not name ${wanted.missingNames.join(", ")}`);
  return warnings;
}

/** What is wrong with the validity of any certificate, each as a sentence. */
export function validityWarnings(
  { validFrom, validTo, daysLeft }: CertificateFacts,
  nowMs: number,
): string[] {
  if (Date.parse(validTo) <= nowMs) return [`it has expired on ${validTo.slice(0, 10)}`];
  if (Date.parse(validFrom) > nowMs) return [`it is not valid before ${validFrom}`];
  return daysLeft < SOON_DAYS ? [`it ends in ${daysLeft} days`] : [];
}
