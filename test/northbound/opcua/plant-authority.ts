// The x509 library wants this polyfill before it is loaded.
import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import { writeFile } from "node:fs/promises";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
  X509CrlGenerator,
  X509CrlReason,
} from "@peculiar/x509";

/** How certificates are signed, and what keys they have. */
export const algorithm = (bits: number) => ({
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-256",
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: bits,
});
const DAY_MS = 86_400_000;

/** A certificate authority of a plant, with RSA as OPC UA wants it. */
export interface PlantAuthority {
  readonly pem: string;
  /** An application's certificate and its key, as files; `files` is a path without an end. */
  issue(files: string, application: ApplicationIdentity): Promise<IssuedFiles>;
  /** A revocation list of now, with these certificates in it. */
  revoke(...issued: readonly IssuedFiles[]): Promise<string>;
}

interface ApplicationIdentity {
  readonly uri: string;
  readonly names?: readonly string[];
  readonly bits?: number;
  readonly lifeMs?: number;
}

export interface IssuedFiles {
  readonly certificateFile: string;
  readonly privateKeyFile: string;
  readonly certificate: X509Certificate;
}

export async function createPlantAuthority(): Promise<PlantAuthority> {
  const keys = await webcrypto.subtle.generateKey(algorithm(2048), true, ["sign", "verify"]);
  const authority = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: "CN=Plant authority",
    notBefore: new Date(Date.now() - 30 * DAY_MS),
    notAfter: new Date(Date.now() + 365 * DAY_MS),
    signingAlgorithm: algorithm(2048),
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 1, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    pem: authority.toString("pem"),
    async issue(files, { uri, names = ["localhost"], bits = 2048, lifeMs = 300 * DAY_MS }) {
      const own = await webcrypto.subtle.generateKey(algorithm(bits), true, ["sign", "verify"]);
      const certificate = await X509CertificateGenerator.create({
        serialNumber: serial(),
        subject: "CN=application",
        issuer: authority.subject,
        notBefore: new Date(Date.now() - 20 * DAY_MS),
        notAfter: new Date(Date.now() + lifeMs),
        signingAlgorithm: algorithm(2048),
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new KeyUsagesExtension(
            KeyUsageFlags.digitalSignature |
              KeyUsageFlags.nonRepudiation |
              KeyUsageFlags.keyEncipherment |
              KeyUsageFlags.dataEncipherment,
            true,
          ),
          new SubjectAlternativeNameExtension([
            { type: "url", value: uri },
            ...names.map((value) => ({ type: "dns", value }) as const),
          ]),
          await SubjectKeyIdentifierExtension.create(own.publicKey),
          await AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      const issued = { certificateFile: `${files}.pem`, privateKeyFile: `${files}.key`, certificate };
      const key = PemConverter.encode(
        await webcrypto.subtle.exportKey("pkcs8", own.privateKey),
        "PRIVATE KEY",
      );
      await writeFile(
        issued.certificateFile,
        `${certificate.toString("pem")}\n${authority.toString("pem")}\n`,
      );
      await writeFile(issued.privateKeyFile, `${key}\n`, { mode: 0o600 });
      return issued;
    },
    async revoke(...issued) {
      const list = await X509CrlGenerator.create({
        issuer: authority.subject,
        thisUpdate: new Date(),
        nextUpdate: new Date(Date.now() + 30 * DAY_MS),
        signingAlgorithm: algorithm(2048),
        signingKey: keys.privateKey,
        entries: issued.map(({ certificate }) => ({
          serialNumber: certificate.serialNumber,
          revocationDate: new Date(),
          reason: X509CrlReason.keyCompromise,
        })),
        extensions: [await AuthorityKeyIdentifierExtension.create(keys.publicKey)],
      });
      return PemConverter.encode(list.rawData, "X509 CRL");
    },
  };
}

function serial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}
