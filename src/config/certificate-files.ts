import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { OpcUaOptions } from "../northbound/opcua/options.ts";
import type { Now } from "../platform/live.ts";
import { certificatesIn } from "../platform/tls-files.ts";
import { dataDir, type Environment } from "./environment.ts";
import { type FileKind, fileFields, places } from "./fields.ts";
import { pathText } from "./finding.ts";
import { keyOf } from "./key-pairs.ts";
import type { RunningConfig } from "./load.ts";
import { type OwnCertificate, readNamedFiles } from "./named-files.ts";
import { readConfigDocument, soundSections } from "./read-document.ts";
import { configSchema } from "./schema.ts";
import { ownOpcUaUri } from "./sections/cluster.ts";
import { opcUaOptions } from "./sections/opcua.ts";

/** A file of certificates that a key of the configuration names. */
export interface CertificateFile {
  readonly key: string;
  /** The path in the configuration if the file could not be read. */
  readonly path: string;
  /** PEM, or why it could not be read. */
  readonly content: { readonly text: string } | { readonly problem: string };
  /** The file of its private key; null: none that can be read. */
  readonly keyFile: string | null;
}

/** The certificates of a configuration. */
export interface ConfiguredCertificates {
  readonly dataDir: string;
  readonly files: readonly CertificateFile[];
  /** Null: the configuration has no OPC UA, or its section has a mistake. */
  readonly opcua: Now<
    Pick<
      OpcUaOptions,
      "applicationUri" | "host" | "hostname" | "isHostnameAssumed" | "alternateHostnames" | "certificate"
    >
  > | null;
}

export type CertificateFilesResult =
  | { readonly ok: true; readonly configured: ConfiguredCertificates }
  | { readonly ok: false; readonly problem: string };

const certificateKinds: ReadonlySet<FileKind | undefined> = new Set([
  "certificate",
  "applicationCertificate",
]);

/**
 * The certificates of a configuration file. The file may have mistakes elsewhere, because people look at
 * certificates when something is wrong. Never rejects.
 */
export async function readCertificateFiles(
  path: string,
  env: Environment,
  nowMs: number,
): Promise<CertificateFilesResult> {
  const read = await readConfigDocument(path);
  if (!read.ok) {
    const [first] = read.problems;
    const line = first?.line == null ? "" : `:${first.line}`;
    return { ok: false, problem: `${path}${line}: ${first?.message ?? "it cannot be read"}` };
  }
  const { document } = read;
  const { gateway, opcua, cluster } = soundSections(document);
  if (gateway === undefined) {
    return {
      ok: false,
      problem: `${path} has mistakes in gateway: fleetgate check --config ${path} names them`,
    };
  }
  const folder = dataDir({ gateway }, path, env);
  const named = await readNamedFiles(configSchema, document, path, env, nowMs);
  const files = [...places(configSchema, document.value)].flatMap((place): CertificateFile[] => {
    if (typeof place.value !== "string" || !certificateKinds.has(fileFields.get(place.schema)?.kind))
      return [];
    const key = pathText(place.path);
    const file = named.byKey.get(key);
    const name = keyOf.get(String(place.path.at(-1)));
    const keyFile =
      name === undefined ? undefined : named.byKey.get(pathText([...place.path.slice(0, -1), name]));
    const found = { key, keyFile: keyFile?.path ?? null };
    if (file !== undefined) return [{ ...found, path: file.path, content: { text: file.text } }];
    const problem = named.problems.find((each) => each.path === key)?.message ?? "cannot be read";
    return [{ ...found, path: place.value, content: { problem } }];
  });
  const identity = { id: gateway.id, dataDir: folder, memberUri: ownOpcUaUri(cluster) };
  const options = opcua === undefined ? null : opcUaOptions(opcua, identity, { families: {} }, [], named);
  return { ok: true, configured: { dataDir: folder, files, opcua: options } };
}

/** A certificate that the gateway presents, or the CAs that it trusts, and when it ends. */
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
      found = await Promise.all(listed(config).map(async (each) => ({ ...each, endMs: await endOf(each) })));
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

/** The first end of a chain. Of CAs the last one: an old CA may stand beside its successor. */
async function endOf({ path, isCa }: OwnCertificate): Promise<number> {
  try {
    const texts = certificatesIn(await readFile(path, "utf8"));
    const ends = texts.map((pem) => Date.parse(new X509Certificate(pem).validTo));
    return isCa ? Math.max(...ends) : Math.min(...ends);
  } catch {
    // The file does not exist yet, or is being replaced: the next look finds it.
    return Number.POSITIVE_INFINITY;
  }
}
