import { X509Certificate } from "node:crypto";
import { dirname, join } from "node:path";
import { certificateProblem, LEAST_RSA_BITS } from "../platform/tls-files.ts";

/** The key beside each key of the schema that names a certificate. */
export const keyOf: ReadonlyMap<string, string> = new Map([
  ["certificate", "key"],
  ["clientCertificate", "clientKey"],
]);

/**
 * Why a PEM text is not a certificate of an OPC UA application, as the end of a sentence; null: it is one.
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

/** The application URI in an OPC UA certificate (OPC UA part 6, 6.2.2); null: it has none. */
export function applicationUriOf(text: string): string | null {
  const names = new X509Certificate(text).subjectAltName?.split(", ") ?? [];
  return names.find((name) => name.startsWith("URI:"))?.slice("URI:".length) ?? null;
}

const revocationList = /-----BEGIN X509 CRL-----[\s\S]*?-----END X509 CRL-----/g;

/** Why a PEM text has no revocation list, as the end of a sentence; null: it has one. */
export function revocationListProblem(text: string): string | null {
  return revocationListsIn(text).length === 0 ? "holds no revocation list (PEM)" : null;
}

/** Each revocation list of a file. */
export function revocationListsIn(text: string): readonly string[] {
  return text.match(revocationList) ?? [];
}

/** The CA that `fleetgate init` makes: its certificate beside the gateway's, its key beside the gateway's. */
export const ownAuthority = { certificate: "gateway-ca.pem", key: "gateway-ca.key" } as const;

/** Where the CA of a certificate would lie. */
export function authorityBeside(
  certificateFile: string,
  keyFile: string,
): { readonly certificateFile: string; readonly keyFile: string } {
  return {
    certificateFile: join(dirname(certificateFile), ownAuthority.certificate),
    keyFile: join(dirname(keyFile), ownAuthority.key),
  };
}
