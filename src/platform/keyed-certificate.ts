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
  X509CertificateGenerator,
} from "@peculiar/x509";

/** A certificate and its private key, both PEM. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

export const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 86_400_000;
const TEN_YEARS_MS = 3_650 * DAY_MS;
// Clocks of clients are a little off: a certificate made now is valid since yesterday.
export const BACKDATE_MS = DAY_MS;

/**
 * A self-signed server certificate for `names` (host names and addresses): clients trust this one and no
 * other. It is valid for ten years, because nobody renews it.
 */
export async function createSelfSigned(names: readonly string[], nowMs: number): Promise<KeyedCertificate> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: [{ CN: [names[0] ?? "localhost"] }],
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + TEN_YEARS_MS),
    signingAlgorithm,
    keys,
    extensions: await serverExtensions(names, keys.publicKey),
  });
  return { certificate: certificate.toString("pem"), key: await exportKey(keys.privateKey) };
}

/** The extensions of a certificate for a TLS server with these names. */
export async function serverExtensions(
  names: readonly string[],
  publicKey: webcrypto.CryptoKey,
): Promise<Extension[]> {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(
      names.map((name) => ({ type: isIP(name) === 0 ? "dns" : "ip", value: name })),
    ),
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
