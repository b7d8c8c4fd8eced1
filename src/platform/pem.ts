import { createPrivateKey, X509Certificate } from "node:crypto";

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
