import { createPrivateKey, X509Certificate } from "node:crypto";

/** The key beside each key of the schema that names a certificate. */
export const keyOf: ReadonlyMap<string, string> = new Map([
  ["certificate", "key"],
  ["clientCertificate", "clientKey"],
]);

/**
 * Why a PEM text is no certificate, as the end of a sentence; null when it is one. Of a chain, the first is
 * looked at.
 */
export function certificateProblem(text: string): string | null {
  if (!text.includes("-----BEGIN CERTIFICATE-----")) return "holds no certificate (PEM)";
  return isReadable(() => new X509Certificate(text)) ? null : "holds a certificate that cannot be read";
}

/**
 * Why a PEM text is no certificate of an OPC UA application, as the end of a sentence; null when it is one.
 */
export function applicationCertificateProblem(text: string): string | null {
  const problem = certificateProblem(text);
  if (problem !== null) return problem;
  const certificate = new X509Certificate(text);
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  if (asymmetricKeyType !== "rsa" || bits < LEAST_RSA_BITS)
    return `holds a key of another kind; OPC UA needs RSA with at least ${LEAST_RSA_BITS} bits`;
  return applicationUriOf(text) === null
    ? "names no application; its subjectAltName needs a URI, as urn:fleetgate:plant1"
    : null;
}

/** OPC UA part 7, every policy that is not outdated. */
const LEAST_RSA_BITS = 2_048;

/**
 * The URI that an OPC UA certificate gives to its application (OPC UA part 6, 6.2.2); null when it has none.
 */
export function applicationUriOf(text: string): string | null {
  const names = new X509Certificate(text).subjectAltName?.split(", ") ?? [];
  return names.find((name) => name.startsWith("URI:"))?.slice("URI:".length) ?? null;
}

const revocationList = /-----BEGIN X509 CRL-----[\s\S]*?-----END X509 CRL-----/g;
const oneCertificate = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Why a PEM text holds no revocation list, as the end of a sentence; null when it does. */
export function revocationListProblem(text: string): string | null {
  return revocationListsIn(text).length === 0 ? "holds no revocation list (PEM)" : null;
}

/** Each revocation list of a file. */
export function revocationListsIn(text: string): readonly string[] {
  return text.match(revocationList) ?? [];
}

/** Each certificate of a file, in its order. */
export function certificatesIn(text: string): readonly string[] {
  return text.match(oneCertificate) ?? [];
}

const MONTH_MS = 30 * 86_400_000;

/** Why the certificates of a file are of no use at a time, or soon will be, as the end of a sentence. */
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
 * Why a PEM text is no private key that the gateway can use; null when it is one. Its content is never
 * quoted.
 */
export function privateKeyProblem(text: string): string | null {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return "holds no private key (PEM)";
  if (/ENCRYPTED/.test(text)) return "holds a key with a passphrase; the gateway needs one without";
  return isReadable(() => createPrivateKey(text)) ? null : "holds a private key that cannot be read";
}

/** Whether the key is the certificate's own. Both have been looked at before. */
export function belongTogether(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    // OpenSSL's words help nobody, and may say something of a key.
    return false;
  }
}
