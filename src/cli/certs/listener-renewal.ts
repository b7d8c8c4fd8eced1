import { readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { authorityBeside } from "../../config/key-pairs.ts";
import type { KeyedCertificate } from "../../platform/certificate-authority.ts";
import { isIssuedBy, renewIssued } from "../../platform/certificate-authority.ts";
import { asOwnerOf } from "../../platform/folder.ts";
import { plainStart } from "../../platform/plain-text.ts";
import { belongTogether, certificateProblem } from "../../platform/tls-files.ts";
import { NotPossible } from "../exit.ts";
import type { GatewayLocation } from "../installed.ts";
import { configuredOf, notAllowed } from "./inventory.ts";
import { put } from "./renewal.ts";

/** The keys of listeners for which `fleetgate init` makes certificates. */
const listenerKeys: ReadonlySet<string> = new Set(["mqtt.certificate", "web.tls.certificate"]);

/** A listener's certificate, with its private key. */
interface ListenerPair {
  /** Of the configuration. */
  readonly name: string;
  readonly path: string;
  readonly certificate: string;
  readonly key: string;
  readonly keyFile: string;
}

/** A file that is ready, or in use now. */
export interface PlacedFile {
  readonly name: string;
  readonly path: string;
  readonly pem: string;
  /** Of the replaced one; null: it is still in use. */
  readonly previous: string | null;
}

/** A certificate of the gateway's own CA, with that CA. */
interface Renewable {
  readonly pair: ListenerPair;
  readonly authority: KeyedCertificate;
}

/** Certificates of the gateway's own CA; others are passed over. `problems`: why one cannot be renewed. */
export async function listenersToRenew(
  location: GatewayLocation,
  nowMs: number,
): Promise<{
  readonly renewable: readonly Renewable[];
  readonly passedOver: readonly string[];
  readonly problems: readonly string[];
}> {
  const renewable: Renewable[] = [];
  const passedOver: string[] = [];
  const problems: string[] = [];
  for (const pair of await pairsOf(location, nowMs)) {
    const { certificateFile, keyFile } = authorityBeside(pair.path, pair.keyFile);
    const certificate = await textOf(certificateFile);
    if (certificate === null || !isIssuedBy(certificate, pair.certificate)) {
      passedOver.push(`${pair.name} (${plainStart(pair.path, 400)})`);
      continue;
    }
    const key = await textOf(keyFile);
    if (key === null) {
      problems.push(
        `${pair.name} is not renewed: the key of its CA is not in ${keyFile}; put it there and run this again`,
      );
      continue;
    }
    renewable.push({ pair, authority: { certificate, key } });
  }
  return { renewable, passedOver, problems };
}

/** Makes the next certificate beside each: the same names and key. */
export async function makeNextOfListeners(
  renewable: readonly Renewable[],
  nowMs: number,
): Promise<readonly PlacedFile[]> {
  const placed: PlacedFile[] = [];
  for (const { pair, authority } of renewable) {
    const pem = await renewIssued(authority, pair, nowMs);
    const path = beside(pair.path, "next");
    await put(path, pem);
    placed.push({ name: pair.name, path, pem, previous: null });
  }
  return placed;
}

/** Replaces each certificate that has a next one, and keeps the replaced one beside it. */
export async function activateNextOfListeners(
  location: GatewayLocation,
  nowMs: number,
): Promise<readonly PlacedFile[]> {
  const placed: PlacedFile[] = [];
  for (const { name, path, certificate, key } of await pairsOf(location, nowMs)) {
    const next = beside(path, "next");
    const pem = await textOf(next);
    if (pem === null) continue;
    const problem = certificateProblem(pem);
    if (problem !== null) throw new NotPossible(`${next} ${problem}`);
    if (!belongTogether(pem, key)) throw new NotPossible(`${next} is for another key than ${path}`);
    const previous = beside(path, "previous");
    await put(previous, certificate);
    await put(path, pem);
    await asOwnerOf(dirname(next), () => rm(next));
    placed.push({ name, path, pem, previous });
  }
  return placed;
}

async function pairsOf(location: GatewayLocation, nowMs: number): Promise<readonly ListenerPair[]> {
  const { files } = await configuredOf(location, nowMs);
  const pairs: ListenerPair[] = [];
  for (const { key: name, path, content, keyFile } of files) {
    if (!listenerKeys.has(name) || "problem" in content || keyFile === null) continue;
    const shared = pairs.findIndex((pair) => pair.path === path);
    const before = pairs[shared];
    if (before !== undefined) {
      pairs[shared] = { ...before, name: `${before.name}, ${name}` };
      continue;
    }
    const [certificate, key] = [await textOf(path), await textOf(keyFile)];
    if (certificate !== null && key !== null) pairs.push({ name, path, certificate, key, keyFile });
  }
  return pairs;
}

function beside(path: string, which: "next" | "previous"): string {
  return `${path.replace(/\.(pem|crt|cer)$/, "")}.${which}.pem`;
}

/** Null: there is no such file. */
async function textOf(path: string): Promise<string | null> {
  try {
    return await asOwnerOf(dirname(path), () => readFile(path, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw notAllowed(error, dirname(path));
  }
}
