import { createHash, X509Certificate } from "node:crypto";
import type { OpcUaUser } from "./options.ts";

const LEAST_RSA_BITS = 2_048;

/** The user of a certificate, compared byte for byte. */
export function userOfCertificate(
  users: readonly OpcUaUser[],
  certificate: Buffer | null,
): OpcUaUser | undefined {
  if (certificate === null || certificate.length === 0) return undefined;
  const digests = ["sha1", "sha256"].map((name) => createHash(name).update(certificate).digest("hex"));
  return users.find((user) => user.certificate !== undefined && digests.includes(user.certificate));
}

export function certificateName(certificate: Buffer | null): string {
  return `certificate ${createHash("sha1")
    .update(certificate ?? "")
    .digest("hex")}`;
}

/** Why a user's certificate cannot be used now; null: it can. */
export function certificateProblem(der: Buffer, nowMs: number): string | null {
  try {
    const { validFrom, validTo, publicKey } = new X509Certificate(der);
    if (Date.parse(validTo) <= nowMs) return `its certificate has expired on ${validTo}`;
    if (Date.parse(validFrom) > nowMs) return `its certificate is not valid before ${validFrom}`;
    const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
    return publicKey.asymmetricKeyType === "rsa" && bits >= LEAST_RSA_BITS
      ? null
      : `its certificate needs an RSA key of at least ${LEAST_RSA_BITS} bits`;
  } catch {
    return "its certificate cannot be read";
  }
}
