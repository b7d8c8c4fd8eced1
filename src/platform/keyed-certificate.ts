// The x509 library needs this polyfill before it is loaded.
import "reflect-metadata";
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate as ParsedCertificate,
  PemConverter,
  Pkcs10CertificateRequestGenerator,
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

/** A certificate with a signing request (PKCS #10, PEM) for another of the same key and names. */
export interface RequestedCertificate extends KeyedCertificate {
  readonly request: string;
}

/**
 * A self-signed server certificate for `names` (host names and addresses): clients trust this one and no
 * other. It is valid for ten years, because nobody renews it.
 */
export async function createSelfSigned(
  names: readonly string[],
  nowMs: number,
): Promise<RequestedCertificate> {
  const keys = await newKeys();
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [names[0] ?? "localhost"] }],
    keys,
    signingAlgorithm,
    extensions: await leafExtensions(names, ["server"], keys.publicKey),
  });
  return {
    certificate: await signedBy(keys, names, nowMs),
    key: await exportKey(keys.privateKey),
    request: `${request.toString("pem")}\n`,
  };
}

/**
 * The next certificate for one of `createSelfSigned`: the same names and key. Null: it is another kind.
 *
 * @param key PEM, the key of the certificate
 */
export async function renewSelfSigned(
  { certificate, key }: KeyedCertificate,
  nowMs: number,
): Promise<string | null> {
  const before = new X509Certificate(certificate);
  const { publicKey } = before;
  const isOurs =
    before.issuer === before.subject &&
    !before.ca &&
    publicKey.asymmetricKeyDetails?.namedCurve === "prime256v1" &&
    before.checkPrivateKey(createPrivateKey(key));
  if (!isOurs) return null;
  const { subtle } = webcrypto;
  const pkcs8 = createPrivateKey(key).export({ type: "pkcs8", format: "der" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const keys = {
    privateKey: await subtle.importKey("pkcs8", pkcs8, signingAlgorithm, false, ["sign"]),
    publicKey: await subtle.importKey("spki", spki, signingAlgorithm, true, ["verify"]),
  };
  const alternatives = new ParsedCertificate(certificate).getExtension(SubjectAlternativeNameExtension);
  return signedBy(keys, alternatives?.names.items.map(({ value }) => value) ?? [], nowMs);
}

async function signedBy(
  keys: webcrypto.CryptoKeyPair,
  names: readonly string[],
  nowMs: number,
): Promise<string> {
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: [{ CN: [names[0] ?? "localhost"] }],
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + TEN_YEARS_MS),
    signingAlgorithm,
    keys,
    extensions: await leafExtensions(names, ["server"], keys.publicKey),
  });
  return certificate.toString("pem");
}

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
