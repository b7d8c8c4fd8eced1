// The x509 library needs this polyfill before it is loaded.
import "reflect-metadata";
import { createPrivateKey, createPublicKey, randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { type CertificateContent, namesToCertify } from "./certificate-content.ts";

const DAY_MS = 86_400_000;
const LIFE_MS = 3_650 * DAY_MS;
/** Clocks of clients are a little off: a new certificate is valid since yesterday. */
const BACKDATE_MS = DAY_MS;
const NAME = "CN=Fleetgate, O=Fleetgate";
const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/**
 * A self-signed certificate, PEM, for ten years.
 *
 * @param key PEM; RSA
 */
export async function selfSigned(key: string, content: CertificateContent, nowMs: number): Promise<string> {
  const keys = await keyPair(key);
  const serial = randomBytes(16);
  // A serial number is positive.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const made = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial.toString("hex"),
    name: NAME,
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + LIFE_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      ...extensions(content, KeyUsageFlags.keyCertSign),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${made.toString("pem")}\n`;
}

/** A signing request (PKCS #10) for a CA, PEM: the same key, application and names. */
export async function signingRequest(key: string, content: CertificateContent): Promise<string> {
  const made = await Pkcs10CertificateRequestGenerator.create({
    name: NAME,
    keys: await keyPair(key),
    signingAlgorithm: algorithm,
    extensions: extensions(content, 0),
  });
  return `${made.toString("pem")}\n`;
}

/** The extensions that OPC UA requires of an application (OPC UA part 6, 6.2.2). */
function extensions(content: CertificateContent, furtherUsage: number): Extension[] {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(
      KeyUsageFlags.digitalSignature |
        KeyUsageFlags.nonRepudiation |
        KeyUsageFlags.keyEncipherment |
        KeyUsageFlags.dataEncipherment |
        furtherUsage,
      true,
    ),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
    new SubjectAlternativeNameExtension([
      { type: "url", value: content.applicationUri },
      ...namesToCertify(content).map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }) as const),
    ]),
  ];
}

async function keyPair(pem: string): Promise<webcrypto.CryptoKeyPair> {
  const key = createPrivateKey(pem);
  const { subtle } = webcrypto;
  const pkcs8 = key.export({ type: "pkcs8", format: "der" });
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  return {
    privateKey: await subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]),
    publicKey: await subtle.importKey("spki", spki, algorithm, true, ["verify"]),
  };
}
