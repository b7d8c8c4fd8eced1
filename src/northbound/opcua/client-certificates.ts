import { X509Certificate } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OPCUACertificateManager, type StatusCode, StatusCodes } from "node-opcua";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { Clock } from "../../platform/clock.ts";
import { describeError } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import { createLineBudget } from "../../platform/log-bounds.ts";
import { createTurns } from "../../platform/queues.ts";
import { LEAST_RSA_BITS } from "../../platform/tls-files.ts";
import { placeTrustList } from "./certificate-content.ts";
import { thumbprintOf } from "./certificate-store/certificate-facts.ts";
import type { OpcUaTrustList } from "./options.ts";

/** The store of clients' certificates. */
export interface ClientCertificates {
  readonly manager: OPCUACertificateManager;
  /** How often a client was refused because of its certificate. */
  readonly refusedCount: number;
  /**
   * Resolves with a function that tells whether an operator has rejected a certificate. Rejects if the
   * folders cannot be read.
   */
  rejected(): Promise<(chain: Buffer | readonly Buffer[]) => boolean>;
  /**
   * Trusts clients of these CAs, and no longer those of others. New clients wait until that is done. Rejects
   * if the disk fails.
   */
  trust(trustList: OpcUaTrustList): Promise<void>;
  /** Whether a client with this certificate would be accepted now. Logs nothing and moves no file. */
  isTrusted(chain: Buffer): Promise<boolean>;
}

/** Characters of a client's name in the name of a file, which may have 255 bytes. */
const LONGEST_FILE_NAME = 40;
/** How many refusals are remembered as logged, and how many lines a period may have. */
const MOST_REMEMBERED = 500;
const lineBounds = { most: 10, windowMs: 60_000 };

/**
 * The store in `folder`. It refuses RSA keys below 2,048 bits, logs each refused certificate once with the
 * command that approves it, and keeps the newest 200 of them.
 */
export function createClientCertificates(folder: string, clock: Clock, log: Log): ClientCertificates {
  const manager = new OPCUACertificateManager({
    rootFolder: folder,
    automaticallyAcceptUnknownCertificate: false,
  });
  const logged = new BoundedMap<string, true>(MOST_REMEMBERED);
  const lines = createLineBudget(clock, lineBounds, (count) => {
    log.warn({ count }, "more OPC UA clients were refused for their certificates than the log names");
  });
  let refusedCount = 0;
  /** One after the other: a store that reads its folders anew trusts nobody meanwhile. */
  const inTurn = createTurns();

  /** Whether a refusal is new, and the log has room for it. */
  function isWorthALine(key: string): boolean {
    if (logged.has(key)) return false;
    if (!lines.take()) return false;
    logged.set(key, true);
    return true;
  }

  /**
   * Puts a refused certificate where an operator approves it. node-opcua's own way would move a certificate
   * that was approved during its check back to the rejected ones.
   */
  async function putAside(chain: Buffer | readonly Buffer[]): Promise<void> {
    const leaf = leafOf(chain);
    const thumbprint = thumbprintOf(leaf);
    const kept = [manager.trustedFolder, manager.rejectedFolder].map((known) => fileOf(known, thumbprint));
    if ((await Promise.all(kept)).some((file) => file !== null)) return;
    const name = `${fileNameOf(commonNameOf(leaf))}[${thumbprint}].pem`;
    await writeFile(join(manager.rejectedFolder, name), new X509Certificate(leaf).toString());
  }

  /** Whether an operator has approved a certificate that the store, which sees files late, still refuses. */
  async function approve(leaf: Buffer): Promise<boolean> {
    const thumbprint = thumbprintOf(leaf);
    if ((await fileOf(manager.trustedFolder, thumbprint)) === null) return false;
    const rejected = await fileOf(manager.rejectedFolder, thumbprint);
    if (rejected !== null) await rm(rejected, { force: true });
    await manager.reloadCertificates().catch((error: unknown) => {
      log.error({ cause: describeError(error) }, "OPC UA's certificate store cannot be read anew");
    });
    return true;
  }

  const rejected = () => rejectedBy(manager);

  async function statusOf(chain: Buffer | readonly Buffer[], leaf: Buffer): Promise<StatusCode> {
    const status = await check(chain);
    // The store sees files late, also those that operators have moved.
    if (status.isGood()) return (await rejected())(chain) ? StatusCodes.BadCertificateUntrusted : status;
    const isNews = status.equals(StatusCodes.BadCertificateUntrusted) && (await approve(leaf));
    return isNews ? check(chain) : status;
  }

  async function report(leaf: Buffer, status: StatusCode): Promise<void> {
    const thumbprint = thumbprintOf(leaf);
    if (!isWorthALine(`${thumbprint} ${status.name}`)) return;
    const file = await fileOf(manager.rejectedFolder, thumbprint);
    log.warn(
      {
        ...nameOfClient(leaf),
        status: status.name,
        ...(file === null ? {} : { approve: approval(manager, thumbprint) }),
      },
      file === null
        ? "an OPC UA client was refused for its certificate"
        : "an OPC UA client was refused: nobody has approved its certificate",
    );
  }

  const check = manager.checkCertificate.bind(manager) as CheckCertificate;
  const checkAndReport: CheckCertificate = async (chain) => {
    const leaf = leafOf(chain);
    const status = hasWeakKey(leaf)
      ? StatusCodes.BadCertificatePolicyCheckFailed
      : await inTurn(() => statusOf(chain, leaf));
    if (status.isGood()) return status;
    refusedCount += 1;
    try {
      await pruneRejected(manager);
      await report(leaf, status);
    } catch (error) {
      log.error({ cause: describeError(error) }, "a refused OPC UA certificate cannot be put aside");
    }
    return status;
  };
  Reflect.set(manager, "checkCertificate", checkAndReport);
  Reflect.set(manager, "rejectCertificate", putAside);
  return {
    manager,
    rejected,
    trust: (trustList) => inTurn(() => trustNow(manager, folder, trustList)),
    isTrusted: (chain) => inTurn(async () => (await isGood(manager, chain)) && !(await rejected())(chain)),
    get refusedCount() {
      return refusedCount;
    },
  };
}

async function rejectedBy({
  rejectedFolder,
  trustedFolder,
}: OPCUACertificateManager): Promise<(chain: Buffer | readonly Buffer[]) => boolean> {
  const [refused, trusted] = await Promise.all([namesIn(rejectedFolder), namesIn(trustedFolder)]);
  return (chain) => {
    const thumbprint = thumbprintOf(leafOf(chain));
    return hasName(refused, thumbprint) && !hasName(trusted, thumbprint);
  };
}

async function trustNow(
  manager: OPCUACertificateManager,
  folder: string,
  trustList: OpcUaTrustList,
): Promise<void> {
  await placeTrustList(folder, trustList);
  await manager.reloadCertificates();
}

/** Like `checkCertificate`, which puts refused certificates aside. */
async function isGood(manager: OPCUACertificateManager, chain: Buffer): Promise<boolean> {
  const options = { acceptCertificateWithValidIssuerChain: true };
  return (await manager.verifyCertificate(chain, options)) === "Good";
}

/** The command that approves a certificate. */
function approval(manager: OPCUACertificateManager, thumbprint: string): string {
  const pkiFolder = dirname(manager.rootDir);
  return `fleetgate certs approve ${thumbprint} --data '${dirname(pkiFolder)}'`;
}

type CheckCertificate = (chain: Buffer | readonly Buffer[]) => Promise<StatusCode>;

/** The first certificate of a chain: each is a DER sequence with its length. */
function leafOf(chain: Buffer | readonly Buffer[]): Buffer {
  const bytes = Buffer.isBuffer(chain) ? chain : (chain[0] ?? Buffer.alloc(0));
  const isLong = bytes.length > 4 && bytes[0] === 0x30 && bytes[1] === 0x82;
  return isLong ? bytes.subarray(0, 4 + bytes.readUInt16BE(2)) : bytes;
}

/** False for a certificate that cannot be read: the store refuses it. */
function hasWeakKey(leaf: Buffer): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = new X509Certificate(leaf).publicKey;
    return asymmetricKeyType !== "rsa" || (asymmetricKeyDetails?.modulusLength ?? 0) < LEAST_RSA_BITS;
  } catch {
    return false;
  }
}

/** The names of a client for the log. */
export function nameOfClient(chain: Buffer): { readonly thumbprint: string; readonly subject: string } {
  const leaf = leafOf(chain);
  return { thumbprint: thumbprintOf(leaf), subject: subjectOf(leaf) };
}

function subjectOf(leaf: Buffer): string {
  try {
    return new X509Certificate(leaf).subject.replaceAll(/\p{Cc}+/gu, ", ").slice(0, 200);
  } catch {
    return "(it cannot be read)";
  }
}

function commonNameOf(leaf: Buffer): string {
  return /^CN=(.*)$/m.exec(new X509Certificate(leaf).subject)?.[1] ?? "";
}

/** A client chooses its name: without characters that have a meaning for a file system or a shell. */
function fileNameOf(name: string): string {
  return name
    .replaceAll(/[^\p{L}\p{N} ._@-]/gu, "_")
    .replace(/^\./, "_")
    .slice(0, LONGEST_FILE_NAME);
}

/** The store names a certificate's file with its thumbprint. */
async function fileOf(folder: string, thumbprint: string): Promise<string | null> {
  const name = (await readdir(folder)).find((file) => file.toLowerCase().includes(thumbprint));
  return name === undefined ? null : join(folder, name);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).map((name) => name.toLowerCase());
}

function hasName(names: readonly string[], thumbprint: string): boolean {
  return names.some((name) => name.includes(thumbprint));
}

/** Anybody who reaches the port can make certificates: the newest ones wait for approval. */
const MOST_REJECTED = 200;

/** The folders of a certificate store that are needed here. */
export interface StoreFolders {
  readonly rejectedFolder: string;
  readonly trustedFolder: string;
}

/**
 * Removes the oldest rejected certificates beyond 200. Without their files their clients are unknown, and
 * refused too. A certificate of a trusted CA stays, because its client would be admitted without it.
 */
async function pruneRejected({ rejectedFolder, trustedFolder }: StoreFolders): Promise<void> {
  const names = await readdir(rejectedFolder);
  const surplus = names.length - MOST_REJECTED;
  if (surplus <= 0) return;
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(rejectedFolder, name);
      return { path, atMs: (await stat(path)).mtimeMs };
    }),
  );
  files.sort((a, b) => a.atMs - b.atMs);
  const cas = await certificatesOf(trustedFolder);
  for (const { path } of files.slice(0, surplus))
    if (!(await isSigned(path, cas))) await rm(path, { force: true });
}

async function isSigned(path: string, cas: readonly X509Certificate[]): Promise<boolean> {
  const certificate = await readCertificate(path);
  if (certificate === null) return false;
  return cas.some((each) => certificate.checkIssued(each) && certificate.verify(each.publicKey));
}

async function certificatesOf(folder: string): Promise<readonly X509Certificate[]> {
  const read = await Promise.all((await readdir(folder)).map((name) => readCertificate(join(folder, name))));
  return read.filter((each) => each !== null);
}

/** Null: it holds no readable certificate, or somebody has moved it meanwhile. */
async function readCertificate(path: string): Promise<X509Certificate | null> {
  try {
    return new X509Certificate(await readFile(path));
  } catch {
    return null;
  }
}
