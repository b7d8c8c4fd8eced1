import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { KeyedCertificate } from "../../src/platform/certificate-authority.ts";

/** A certificate that is its own authority, for a client. */
export async function createClientCertificate(): Promise<KeyedCertificate> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=gateway",
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
    ],
  });
  const key = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { certificate: certificate.toString("pem"), key: PemConverter.encode(key, "PRIVATE KEY") };
}
