// The x509 library needs this polyfill before it is loaded.
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import {
  BACKDATE_MS,
  type CertificateUse,
  exportKey,
  type KeyedCertificate,
  leafExtensions,
  newKeys,
  newSerial,
  signingAlgorithm,
} from "./keyed-certificate.ts";

/** A CA that signs certificates of servers and clients, and no other CA. */
export async function createAuthority(
  commonName: string,
  lifeMs: number,
  nowMs: number,
): Promise<KeyedCertificate> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: [{ CN: [commonName] }],
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + lifeMs),
    signingAlgorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await exportKey(keys.privateKey) };
}

export interface CertificateOrder {
  readonly commonName: string;
  /** Host names and addresses; empty: none. */
  readonly names: readonly string[];
  readonly uses: readonly CertificateUse[];
  readonly lifeMs: number;
}

/** A certificate that `authority` signs. It ends with the authority's at the latest. */
export async function issueCertificate(
  authority: KeyedCertificate,
  { commonName, names, uses, lifeMs }: CertificateOrder,
  nowMs: number,
): Promise<KeyedCertificate> {
  const issuer = new X509Certificate(authority.certificate);
  const signingKey = await importKey(authority.key);
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: [{ CN: [commonName] }],
    issuer: issuer.subject,
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(Math.min(nowMs + lifeMs, issuer.notAfter.getTime())),
    signingAlgorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      ...(await leafExtensions(names, uses, keys.publicKey)),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await exportKey(keys.privateKey) };
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const [raw] = PemConverter.decode(pem);
  if (raw === undefined) throw new Error("the key of the certificate authority is no PEM");
  return webcrypto.subtle.importKey("pkcs8", raw, signingAlgorithm, false, ["sign"]);
}
