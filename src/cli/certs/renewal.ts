import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { contentOf, missingNames } from "../../northbound/opcua/certificate-content.ts";
import {
  applicationWarnings,
  type CertificateFacts,
  certificatesOf,
  factsOf,
} from "../../northbound/opcua/certificate-store/certificate-facts.ts";
import { places, storeFolder } from "../../northbound/opcua/certificate-store/store.ts";
import { selfSigned, signingRequest } from "../../northbound/opcua/made-certificate.ts";
import { asOwnerOf } from "../../platform/folder.ts";
import { putInPlace } from "../../platform/kept-file.ts";
import { plainStart } from "../../platform/plain-text.ts";
import { NotPossible } from "../exit.ts";
import type { GatewayLocation } from "../installed.ts";
import { configuredOf, notAllowed } from "./inventory.ts";

const KEY = "own/private/private_key.pem";
const PREVIOUS = "own/certs/previous.pem";
const READ_AND_WRITE = 0o666;

/** The gateway's own identity, as configured. */
interface Identity {
  readonly key: string;
  readonly content: ReturnType<typeof contentOf>;
  /** The store's folder; null: the configuration names certificate and key. */
  readonly store: string | null;
  readonly certificateFile: string;
}

/** Throws NotPossible if there is no key yet, or no configuration. */
async function identityOf(location: GatewayLocation, nowMs: number): Promise<Identity> {
  const { dataDir, opcua } = await configuredOf(location, nowMs);
  if (opcua === null) {
    throw new NotPossible(
      "the names for the certificate stand in the configuration: give --config <file> with a valid section opcua",
    );
  }
  const store = storeFolder(dataDir);
  const keyFile = opcua.certificate?.keyFile ?? join(store, KEY);
  const key = await asOwnerOf(dirname(keyFile), () => readFile(keyFile, "utf8")).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      throw new NotPossible(`there is no key yet in ${keyFile}: start the gateway once, it makes its own`);
    throw notAllowed(error, dirname(keyFile));
  });
  return {
    key,
    content: contentOf(opcua),
    store: opcua.certificate === null ? store : null,
    certificateFile: opcua.certificate?.certificateFile ?? join(store, places.own),
  };
}

/** A signing request for the gateway's key, PEM. */
export async function makeRequest(location: GatewayLocation, nowMs: number): Promise<string> {
  const { key, content } = await identityOf(location, nowMs);
  return signingRequest(key, content);
}

/** A certificate that is ready, or in use now. */
export interface Placed {
  readonly facts: CertificateFacts;
  readonly warnings: readonly string[];
}

/**
 * Makes the next certificate beside the present one: self-signed, with the same key. One that waits already
 * stays, because clients may trust it.
 */
export async function makeNext(
  location: GatewayLocation,
  nowMs: number,
): Promise<Placed & { readonly isWaiting: boolean }> {
  const identity = await identityOf(location, nowMs);
  const store = ownStore(identity);
  const waiting = await waitingNext(store, identity, nowMs);
  if (waiting !== null) return { ...waiting, isWaiting: true };
  const text = await selfSigned(identity.key, identity.content, nowMs);
  await put(join(store, places.next), text);
  return { ...placed(text, identity, nowMs), isWaiting: false };
}

/** Null: none waits, or clients would refuse it now, as after a change of the gateway's names. */
async function waitingNext(store: string, identity: Identity, nowMs: number): Promise<Placed | null> {
  const path = join(store, places.next);
  try {
    const chain = chainOf(await asOwnerOf(store, () => readFile(path)), path, identity, nowMs);
    const found = placed(chain, identity, nowMs);
    return found.facts.isSelfSigned && found.warnings.length > 0 ? null : found;
  } catch {
    return null;
  }
}

/** Replaces the present certificate with the next one. The replaced one is kept as previous.pem. */
export async function activateNext(location: GatewayLocation, nowMs: number): Promise<Placed> {
  const identity = await identityOf(location, nowMs);
  const store = ownStore(identity);
  const next = join(store, places.next);
  const text = await asOwnerOf(store, () => readFile(next)).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      throw new NotPossible("there is no next certificate: fleetgate certs renew makes one");
    throw notAllowed(error, dirname(next));
  });
  const chain = chainOf(text, next, identity, nowMs);
  await keepPrevious(store);
  await put(join(store, places.own), chain);
  await asOwnerOf(store, () => rm(next));
  return placed(chain, identity, nowMs);
}

/**
 * Installs a certificate that a CA has signed, followed by its issuers.
 *
 * @param to `next`: it waits until it is activated
 */
export async function importAnswer(
  location: GatewayLocation,
  file: string,
  to: "own" | "next",
  nowMs: number,
): Promise<Placed> {
  const identity = await identityOf(location, nowMs);
  const store = ownStore(identity);
  const answer = await readFile(file).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new NotPossible(`${file} cannot be read: ${code}`);
  });
  const chain = chainOf(answer, file, identity, nowMs);
  if (to === "own") await keepPrevious(store);
  await put(join(store, places[to]), chain);
  return placed(chain, identity, nowMs);
}

function ownStore({ store, certificateFile }: Identity): string {
  if (store !== null) return store;
  throw new NotPossible(
    `opcua.certificate of the configuration names ${certificateFile}: write the new certificate there, its issuers after it, and restart the gateway`,
  );
}

/** The chain as PEM. Throws NotPossible if the gateway cannot use it, or if clients would refuse it. */
function chainOf(content: Buffer, file: string, { key, content: wanted }: Identity, nowMs: number): string {
  const [leaf, ...issuers] = readChain(content, file);
  if (leaf === undefined) throw new NotPossible(`${file} holds no certificate`);
  const facts = factsOf(leaf, nowMs);
  const refuse = (problem: string) => new NotPossible(`${plainStart(file, 400)} ${problem}`);
  if (!leaf.publicKey.equals(createPublicKey(createPrivateKey(key)))) {
    throw refuse(
      "is for another key: the first certificate must be the answer to fleetgate certs request, its issuers after it",
    );
  }
  if (facts.applicationUri !== wanted.applicationUri) {
    throw refuse(
      `is for ${facts.applicationUri === null ? "no application" : plainStart(facts.applicationUri, 200)}: its subjectAltName must have the URI ${wanted.applicationUri} of the request`,
    );
  }
  for (const certificate of [leaf, ...issuers]) {
    const { validFrom, validTo, subject } = factsOf(certificate, nowMs);
    if (Date.parse(validTo) <= nowMs) throw refuse(`has expired on ${validTo}: ${plainStart(subject, 200)}`);
    if (Date.parse(validFrom) > nowMs)
      throw refuse(
        `is not valid before ${validFrom}: ${plainStart(subject, 200)}; is this machine's clock right?`,
      );
  }
  let signed = leaf;
  for (const issuer of issuers) {
    if (!signed.checkIssued(issuer) || !signed.verify(issuer.publicKey)) {
      throw refuse(
        `is no chain: ${plainStart(factsOf(signed, nowMs).subject, 200)} is not signed by ${plainStart(factsOf(issuer, nowMs).subject, 200)}, which follows it`,
      );
    }
    signed = issuer;
  }
  return [leaf, ...issuers].map((each) => each.toString()).join("");
}

function readChain(content: Buffer, file: string): readonly X509Certificate[] {
  try {
    return certificatesOf(content);
  } catch {
    throw new NotPossible(`${plainStart(file, 400)} holds no certificate that can be read (PEM or DER)`);
  }
}

function placed(chain: string, { content }: Identity, nowMs: number): Placed {
  const certificate = new X509Certificate(chain);
  const facts = factsOf(certificate, nowMs);
  const missing = missingNames(certificate, content.names);
  return {
    facts,
    warnings: applicationWarnings(facts, nowMs, {
      applicationUri: content.applicationUri,
      missingNames: missing,
    }),
  };
}

/** For a manual return to it. A file without a certificate is not kept. */
async function keepPrevious(store: string): Promise<void> {
  let kept: readonly X509Certificate[];
  try {
    kept = certificatesOf(await asOwnerOf(store, () => readFile(join(store, places.own))));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") throw notAllowed(error, store);
    return;
  }
  await put(join(store, PREVIOUS), kept.map((each) => each.toString()).join(""));
}

/** Writes a certificate, readable as its folder is. */
export async function put(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  try {
    await asOwnerOf(dirname(path), async () => {
      await rm(draft, { force: true });
      await writeFile(draft, text, { flag: "wx" });
      await chmod(draft, (await stat(dirname(path))).mode & READ_AND_WRITE);
      await putInPlace(draft, path);
    });
  } catch (error) {
    throw notAllowed(error, dirname(path));
  }
}
