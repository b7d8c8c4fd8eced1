import { X509Certificate } from "node:crypto";
import { type ConfiguredCertificates, readCertificateFiles } from "../../config/certificate-files.ts";
import { contentOf, missingNames } from "../../northbound/opcua/certificate-content.ts";
import {
  applicationWarnings,
  type CertificateFacts,
  factsOf,
  validityWarnings,
  type Wanted,
} from "../../northbound/opcua/certificate-store/certificate-facts.ts";
import {
  readStore,
  type StoredCertificate,
  storeFolder,
} from "../../northbound/opcua/certificate-store/store.ts";
import { asOwnerOf } from "../../platform/folder.ts";
import { certificatesIn } from "../../platform/tls-files.ts";
import { exitCodes, NotPossible } from "../exit.ts";
import type { GatewayLocation } from "../installed.ts";
import { unitEnvironment } from "../unit-environment.ts";

/** A certificate that the gateway uses or knows, and what is wrong with it. */
export interface Listed {
  readonly place: StoredCertificate["place"] | "configuration";
  /** The key that names its file, if it belongs to the configuration. */
  readonly configKey: string | null;
  readonly path: string;
  readonly since: string | null;
  readonly facts: CertificateFacts;
  readonly pem: string;
  readonly warnings: readonly string[];
}

/** A file without a readable certificate. */
export interface Damaged {
  readonly place: Listed["place"];
  readonly path: string;
  readonly problem: string;
}

export interface Inventory {
  readonly configured: ConfiguredCertificates;
  readonly certificates: readonly Listed[];
  readonly damaged: readonly Damaged[];
}

/** The certificates in a configuration. Throws NotPossible if it cannot be read. */
export async function configuredOf(
  { config, data }: GatewayLocation,
  nowMs: number,
): Promise<ConfiguredCertificates> {
  if (data !== undefined) return { dataDir: data, files: [], opcua: null };
  const { env } = unitEnvironment(process.env, process.getuid?.() ?? null, config);
  const read = await readCertificateFiles(config, env, nowMs);
  if (!read.ok) throw new NotPossible(read.problem, exitCodes.config);
  return read.configured;
}

/** Every certificate in a configuration, or in its data folder. */
export async function takeInventory(location: GatewayLocation, nowMs: number): Promise<Inventory> {
  const configured = await configuredOf(location, nowMs);
  const stored = await storedIn(configured, nowMs);
  const certificates: Listed[] = [];
  const damaged: Damaged[] = [];
  for (const { place, path, since, content } of stored) {
    if ("damage" in content) damaged.push({ place, path, problem: content.damage });
    else {
      const { facts, certificate } = content;
      const isOwn = place === "own" || place === "next";
      const wanted = isOwn ? wantedOf(configured, certificate) : undefined;
      const warnings = applicationWarnings(facts, nowMs, wanted);
      const pem = certificate.toString();
      certificates.push({ place, configKey: null, path, since, facts, pem, warnings });
    }
  }
  for (const { key, path, content } of configured.files) {
    if ("problem" in content) {
      damaged.push({ place: "configuration", path: `${key} (${path})`, problem: content.problem });
      continue;
    }
    for (const pem of certificatesIn(content.text)) {
      const certificate = new X509Certificate(pem);
      const facts = factsOf(certificate, nowMs);
      const isOwn = key === "opcua.certificate" && certificatesIn(content.text)[0] === pem;
      const warnings = isOwn
        ? applicationWarnings(facts, nowMs, wantedOf(configured, certificate))
        : validityWarnings(facts, nowMs);
      certificates.push({ place: "configuration", configKey: key, path, since: null, facts, pem, warnings });
    }
  }
  return { configured, certificates, damaged };
}

async function storedIn(
  { dataDir, opcua }: ConfiguredCertificates,
  nowMs: number,
): Promise<readonly StoredCertificate[]> {
  try {
    const store = storeFolder(dataDir);
    const stored = await asOwnerOf(store, () => readStore(store, nowMs));
    // A certificate of the configuration replaces the gateway's own.
    return opcua?.certificate == null ? stored : stored.filter(({ place }) => place !== "own");
  } catch (error) {
    throw notAllowed(error, dataDir);
  }
}

/** The data folder belongs to the service alone: other users get advice. */
export function notAllowed(error: unknown, dataDir: string): unknown {
  const isDenied =
    error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
  return isDenied
    ? new NotPossible(`${dataDir} is open to the gateway's user and root only: use sudo`)
    : error;
}

function wantedOf({ opcua }: ConfiguredCertificates, certificate: X509Certificate): Wanted | undefined {
  if (opcua === null) return undefined;
  return {
    applicationUri: opcua.applicationUri,
    missingNames: missingNames(certificate, contentOf(opcua).names),
  };
}
