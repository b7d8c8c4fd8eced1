import { createPrivateKey, X509Certificate } from "node:crypto";

/** The key beside each key of the schema that names a certificate. */
export const keyOf: ReadonlyMap<string, string> = new Map([
  ["certificate", "key"],
  ["clientCertificate", "clientKey"],
]);

/** Why a PEM text is no certificate, as the end of a sentence; null when it is one. Of a chain, the first is looked at. */
export function certificateProblem(text: string): string | null {
  if (!text.includes("-----BEGIN CERTIFICATE-----")) return "holds no certificate (PEM)";
  return isReadable(() => new X509Certificate(text)) ? null : "holds a certificate that cannot be read";
}

/** Why a PEM text is no private key that the gateway can use; null when it is one. Its content is never quoted. */
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
