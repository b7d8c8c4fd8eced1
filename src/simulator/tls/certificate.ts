// The x509 library needs this polyfill before it is loaded.
import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
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
  exportKey,
  type KeyedCertificate,
  newKeys,
  newSerial,
  serverExtensions,
  signingAlgorithm,
} from "../../platform/keyed-certificate.ts";

const DAY_MS = 86_400_000;
const CA_LIFE_MS = 3_650 * DAY_MS;
// Some clients refuse server certificates that live longer than 398 days.
const SERVER_LIFE_MS = 397 * DAY_MS;

/** A CA of our own: it signs one server certificate and nothing else. */
export async function createCa(nowMs: number): Promise<KeyedCertificate> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    // A different name each time: the CAs of two simulators must not be confused.
    name: `CN=Fleetgate simulator CA ${randomBytes(4).toString("hex")}`,
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + CA_LIFE_MS),
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

/** A server certificate for `names` (host names and addresses), signed by `authority`. */
export async function createServerCertificate(
  authority: KeyedCertificate,
  names: readonly string[],
  nowMs: number,
): Promise<KeyedCertificate> {
  const issuer = new X509Certificate(authority.certificate);
  const signingKey = await importKey(authority.key);
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: "CN=Fleetgate simulator",
    issuer: issuer.subject,
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(Math.min(nowMs + SERVER_LIFE_MS, issuer.notAfter.getTime())),
    signingAlgorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      ...(await serverExtensions(names, keys.publicKey)),
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
