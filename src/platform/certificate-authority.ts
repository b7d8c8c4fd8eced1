// The x509 library needs this polyfill before it is loaded.
import "reflect-metadata";
import { createPrivateKey, X509Certificate as NodeCertificate, randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

const DAY_MS = 86_400_000;
/** Of what nobody renews by itself. */
export const certificateLife = { authorityMs: 7_300 * DAY_MS, leafMs: 3_650 * DAY_MS } as const;

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

/** A certificate of a new key that `authority` signs. It ends with the authority's at the latest. */
export async function issueCertificate(
  authority: KeyedCertificate,
  order: CertificateOrder,
  nowMs: number,
): Promise<KeyedCertificate> {
  const keys = await newKeys();
  const certificate = await sign(authority, order, keys.publicKey, nowMs);
  return { certificate, key: await exportKey(keys.privateKey) };
}

/** The next certificate for a server's that `authority` has signed: the same names and key. */
export async function renewIssued(
  authority: KeyedCertificate,
  pair: KeyedCertificate,
  nowMs: number,
): Promise<string> {
  const names = namesOf(pair.certificate);
  const { leafMs: lifeMs } = certificateLife;
  const order = { commonName: names[0] ?? "", names, uses: ["server"], lifeMs } as const;
  return sign(authority, order, (await keysOf(pair)).publicKey, nowMs);
}

/** Whether the certificate of an authority has signed another. Both are PEM. */
export function isIssuedBy(authority: string, certificate: string): boolean {
  const [issuer, issued] = [new NodeCertificate(authority), new NodeCertificate(certificate)];
  return issuer.ca && issued.checkIssued(issuer) && issued.verify(issuer.publicKey);
}

/** A request (PKCS #10, PEM) to another authority for a server's certificate: the same names and key. */
export async function signingRequestFor(pair: KeyedCertificate): Promise<string> {
  const keys = await keysOf(pair);
  const names = namesOf(pair.certificate);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: names.slice(0, 1) }],
    keys,
    signingAlgorithm,
    extensions: await leafExtensions(names, ["server"], keys.publicKey),
  });
  return `${request.toString("pem")}\n`;
}

async function sign(
  authority: KeyedCertificate,
  { commonName, names, uses, lifeMs }: CertificateOrder,
  publicKey: webcrypto.CryptoKey,
  nowMs: number,
): Promise<string> {
  const issuer = new X509Certificate(authority.certificate);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: [{ CN: [commonName] }],
    issuer: issuer.subject,
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(Math.min(nowMs + lifeMs, issuer.notAfter.getTime())),
    signingAlgorithm,
    publicKey,
    signingKey: await importKey(authority.key),
    extensions: [
      ...(await leafExtensions(names, uses, publicKey)),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return certificate.toString("pem");
}

function namesOf(certificate: string): readonly string[] {
  const alternatives = new X509Certificate(certificate).getExtension(SubjectAlternativeNameExtension);
  return alternatives?.names.items.map(({ value }) => value) ?? [];
}

async function keysOf({ certificate, key }: KeyedCertificate): Promise<webcrypto.CryptoKeyPair> {
  const publicKey = await new X509Certificate(certificate).publicKey.export(signingAlgorithm, ["verify"]);
  return { privateKey: await importKey(key), publicKey };
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const pkcs8 = createPrivateKey(pem).export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", pkcs8, signingAlgorithm, false, ["sign"]);
}

/** A certificate and its private key, both PEM. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
// Clocks of clients are a little off: a certificate made now is valid since yesterday.
const BACKDATE_MS = 86_400_000;

type CertificateUse = "server" | "client";

/** The extensions of a certificate of TLS that signs no other. Without names it is for no host. */
async function leafExtensions(
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

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
}

/** Sixteen random bytes. The first bit is 0, because a serial number is positive. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}
