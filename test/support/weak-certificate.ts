// The x509 library wants this polyfill before it is loaded.
import "reflect-metadata";
import { KeyObject, webcrypto } from "node:crypto";
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from "@peculiar/x509";
import type { TlsPair } from "../../src/platform/tls-files.ts";

/** For 127.0.0.1, with a key of RSA that every OpenSSL of today refuses; signed by itself. */
export async function weakCertificate(): Promise<TlsPair> {
  const keys = await makeKeys(768, "SHA-256");
  return makePair(keys, keys.privateKey, "SHA-256");
}

/** With a key that some versions of OpenSSL take, and a signature of an authority that some take. */
export async function oldCertificate(bits: number, hash: "SHA-256" | "SHA-1"): Promise<TlsPair> {
  const [keys, authority] = await Promise.all([makeKeys(bits, hash), makeKeys(2_048, hash)]);
  return makePair(keys, authority.privateKey, hash, "CN=old authority");
}

const name = "RSASSA-PKCS1-v1_5";

type Keys = webcrypto.CryptoKeyPair;

function makeKeys(modulusLength: number, hash: string): Promise<Keys> {
  const algorithm = { name, hash, publicExponent: new Uint8Array([1, 0, 1]), modulusLength };
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function makePair(
  { publicKey, privateKey }: Keys,
  signingKey: Keys["privateKey"],
  hash: string,
  issuer = "CN=weak",
): Promise<TlsPair> {
  const made = await X509CertificateGenerator.create({
    subject: "CN=weak",
    issuer,
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    signingAlgorithm: { name, hash },
    publicKey,
    signingKey,
    extensions: [new SubjectAlternativeNameExtension([{ type: "ip", value: "127.0.0.1" }])],
  });
  const key = KeyObject.from(privateKey).export({ type: "pkcs8", format: "pem" });
  return { cert: made.toString("pem"), key: String(key) };
}
