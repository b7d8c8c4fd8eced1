import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { certificatesIn } from "../platform/pem.ts";
import type { RunningConfig } from "./load.ts";
import type { OwnCertificate } from "./named-files.ts";

/** A certificate that the gateway presents, and when it ends. */
export interface CertificateEnd extends OwnCertificate {
  /** Wall time; infinity: no certificate can be read. */
  readonly endMs: number;
}

/** The ends of the gateway's own certificates. */
export interface OwnCertificates {
  /** Reads the files anew. */
  look(): Promise<readonly CertificateEnd[]>;
  /** The result of the last look, without reading the disk. */
  found(): readonly CertificateEnd[];
}

export function createOwnCertificates(
  config: Pick<RunningConfig, "certificates" | "opcua">,
): OwnCertificates {
  let found: readonly CertificateEnd[] = [];
  return {
    async look() {
      found = await Promise.all(
        listed(config).map(async ({ key, path }) => ({ key, path, endMs: await endOf(path) })),
      );
      return found;
    },
    found: () => found,
  };
}

/** Those that the configuration names, and the one that the OPC UA server has made for itself. */
function listed({
  certificates,
  opcua,
}: Pick<RunningConfig, "certificates" | "opcua">): readonly OwnCertificate[] {
  if (opcua === null || opcua.certificate.now() !== null) return certificates.now();
  const path = join(opcua.dataDir, "opcua/server/own/certs/certificate.pem");
  return [...certificates.now(), { key: "opcua", path }];
}

/** The first end of a certificate in a chain. */
async function endOf(path: string): Promise<number> {
  try {
    const texts = certificatesIn(await readFile(path, "utf8"));
    return Math.min(...texts.map((pem) => Date.parse(new X509Certificate(pem).validTo)));
  } catch {
    // The file does not exist yet, or is being replaced: the next look finds it.
    return Number.POSITIVE_INFINITY;
  }
}
