// The x509 library needs this polyfill before it is loaded.
import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
} from "@peculiar/x509";

/** A certificate and its private key, both PEM. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

export const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
// Clocks of clients are a little off: a certificate made now is valid since yesterday.
export const BACKDATE_MS = 86_400_000;

export type CertificateUse = "server" | "client";

/** The extensions of a certificate of TLS that signs no other. Without names it is for no host. */
export async function leafExtensions(
  names: readonly string[],
  uses: readonly CertificateUse[],
  publicKey: webcrypto.CryptoKey,
): Promise<Extension[]> {
  const hosts = names.map((name) => ({ type: isIP(name) === 0 ? "dns" : "ip", value: name }) as const);
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension(
      uses.map((use) => (use === "server" ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth)),
    ),
    ...(hosts.length === 0 ? [] : [new SubjectAlternativeNameExtension(hosts)]),
    await SubjectKeyIdentifierExtension.create(publicKey),
  ];
}

export function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
}

/** Sixteen random bytes. The first bit is 0, because a serial number is positive. */
export function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}

export async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}
