// The x509 library wants this polyfill before it is loaded.
import "reflect-metadata";
import { createHash, webcrypto } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Extension,
  type KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { stringify } from "yaml";

const DAY_MS = 86_400_000;
/** How certificates are signed, and what keys they have. */
export const algorithm = {
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-256",
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2_048,
};
/** Keys take a while to make: one is enough for certificates that nobody logs on with. */
let keys: Promise<webcrypto.CryptoKeyPair> | undefined;

/** A certificate of an OPC UA client, and its thumbprint. */
export interface ClientCertificate {
  readonly pem: string;
  readonly der: Buffer;
  readonly thumbprint: string;
}

export async function clientCertificate(
  name: string,
  changed: {
    readonly uri?: string | readonly string[] | null;
    readonly days?: number;
    readonly usages?: boolean;
  } = {},
): Promise<ClientCertificate> {
  keys ??= webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const { uri = "urn:line1:scada", days = 300, usages = true } = changed;
  const extensions: Extension[] = [];
  if (uri !== null) {
    const names = [uri].flat().map((value) => ({ type: "url", value }) as const);
    extensions.push(new SubjectAlternativeNameExtension(names));
  }
  // digitalSignature to dataEncipherment.
  if (usages) extensions.push(new KeyUsagesExtension(15 as KeyUsageFlags, true));
  const made = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    notBefore: new Date(Date.now() - 400 * DAY_MS),
    notAfter: new Date(Date.now() + days * DAY_MS),
    signingAlgorithm: algorithm,
    keys: await keys,
    extensions,
  });
  const der = Buffer.from(made.rawData);
  return { pem: made.toString("pem"), der, thumbprint: createHash("sha1").update(der).digest("hex") };
}

/** A configuration, and the certificate store of its data folder. */
export interface Plant {
  readonly folder: string;
  readonly config: string;
  /** The store's folder. */
  readonly store: string;
  /** Puts a file into the store. */
  put(path: string, content: string | Buffer): Promise<string>;
}

const folders: string[] = [];

export async function newPlant(opcua: object = {}): Promise<Plant> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-certs-"));
  folders.push(folder);
  const config = join(folder, "fleetgate.yaml");
  const store = join(folder, "data/opcua/server");
  for (const each of ["own/certs", "own/private", "rejected", "trusted/certs", "issuers/certs"])
    await mkdir(join(store, each), { recursive: true });
  await writeFile(
    config,
    stringify({ gateway: { id: "plant1" }, opcua: { hostname: "gateway.line1", ...opcua } }),
  );
  return {
    folder,
    config,
    store,
    async put(path, content) {
      await writeFile(join(store, path), content);
      return join(store, path);
    },
  };
}

export async function removePlants(): Promise<void> {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
}
