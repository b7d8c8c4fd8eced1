import { X509Certificate } from "node:crypto";
import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SharedClient, SharedClients } from "../../../contracts/client-certificates.ts";
import { type Clock, every } from "../../../platform/clock.ts";
import { describeError, isCode } from "../../../platform/error-text.ts";
import { isJsonObject } from "../../../platform/json.ts";
import type { Log } from "../../../platform/log.ts";
import { createRecurringProblem } from "../../../platform/log-bounds.ts";
import type { Codec } from "../../../platform/stores/table-store.ts";
import type { WriteBehind } from "../../../platform/stores/write-behind.ts";
import { certificatesOf, thumbprintOf } from "./certificate-facts.ts";
import { findClients } from "./client-list.ts";
import { moveCertificates } from "./move.ts";
import { isConfigured, places } from "./store.ts";

export interface SharedFolderParts {
  /** The folder of the store. */
  readonly folder: string;
  readonly clients: SharedClients;
  /** Those of this box: what it has in common with the others is there. */
  readonly tables: Pick<WriteBehind, "table" | "keep">;
  readonly clock: Clock;
  readonly log: Log;
}

/** What this box and the others agree on. */
interface Agreed {
  readonly isTrusted: boolean;
  /** The number of the decision that was taken over last. */
  readonly revision: number;
  /** Somebody has decided it here, and the others do not know it yet. */
  readonly isOwn: boolean;
}

type Decisions = NonNullable<ReturnType<SharedClients["decisions"]>>;

/** As soon as a client that waits tries again. */
const LOOK_MS = 2_000;
/** Operators trust few clients. What is beyond these bounds stays on its box. */
const MOST_CLIENTS = 1_000;
const MOST_CHARACTERS = 20_000;

/**
 * Shares what operators decide on clients: a file that comes to the trusted ones, or leaves them, is a
 * decision, by the console or by `fleetgate certs`. A decision of another member moves the file here.
 */
export function shareClients(parts: SharedFolderParts, signal: AbortSignal): void {
  const { clock, log } = parts;
  const look = createLook(parts);
  const problem = createRecurringProblem(clock, () => log.info({}, "OPC UA clients are shared again"));
  let isLooking = false;
  every(clock, LOOK_MS, signal, () => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => {
        if (problem.note()) log.warn({ cause: describeError(error) }, "OPC UA clients cannot be shared");
      })
      .finally(() => {
        isLooking = false;
      });
  });
}

function createLook({ folder, clients, tables, clock, log }: SharedFolderParts): () => Promise<void> {
  const table = tables.table("trusted-clients", agreedCodec, "begin empty");
  const agreed = new Map(table.entries());
  const trusted = createTrustedFiles(join(folder, places.trusted));

  function agree(thumbprint: string, value: Agreed): void {
    agreed.set(thumbprint, value);
    tables.keep([table.put(thumbprint, value)]);
  }

  async function tell(thumbprint: string, isTrusted: boolean, pem: string, since: number): Promise<void> {
    const revision = await clients.decide(thumbprint, { isTrusted, pem: isTrusted ? pem : "" }, since);
    if (revision !== null) agree(thumbprint, { isTrusted, revision, isOwn: false });
  }

  async function take(thumbprint: string, { isTrusted, pem }: SharedClient): Promise<void> {
    const found = await findClients(folder, clock.nowMs());
    const isHere = found.some(({ facts }) => facts.thumbprint === thumbprint);
    const to = isTrusted ? "trusted" : "rejected";
    if (isHere) await moveCertificates(folder, found, [thumbprint], to);
    else if (isTrusted) await addTrusted(folder, thumbprint, pem);
    else return;
    log.info({ thumbprint }, `an OPC UA client is ${to}, as was decided on another box`);
  }

  async function lookAt(thumbprint: string, pem: string | undefined, decisions: Decisions): Promise<void> {
    const isTrusted = pem !== undefined;
    const known = agreed.get(thumbprint);
    const decided = decisions.get(thumbprint);
    // A box that comes anew takes over what was decided without it.
    const isDecidedHere = isTrusted !== (known?.isTrusted ?? (decided !== undefined && isTrusted));
    if (isDecidedHere) agree(thumbprint, { isTrusted, revision: known?.revision ?? 0, isOwn: true });
    const isOwn = agreed.get(thumbprint)?.isOwn === true || (isTrusted && decided === undefined);
    if (isOwn && decided?.isTrusted === isTrusted)
      agree(thumbprint, { isTrusted, revision: decided.revision, isOwn: false });
    else if (isOwn) {
      const isFull = decided === undefined && decisions.size >= MOST_CLIENTS;
      if (!isFull && (pem ?? "").length <= MOST_CHARACTERS)
        await tell(thumbprint, isTrusted, pem ?? "", decided?.revision ?? 0);
    } else if (decided !== undefined && decided.revision !== known?.revision) {
      if (decided.isTrusted !== isTrusted) await take(thumbprint, decided);
      agree(thumbprint, { isTrusted: decided.isTrusted, revision: decided.revision, isOwn: false });
    }
  }

  return async () => {
    const decisions = clients.decisions();
    if (decisions === null) return;
    const here = await trusted();
    const problems: unknown[] = [];
    for (const thumbprint of new Set([...here.keys(), ...agreed.keys(), ...decisions.keys()])) {
      // One that cannot be taken over here keeps no other one waiting.
      await lookAt(thumbprint, here.get(thumbprint), decisions).catch((error) => problems.push(error));
    }
    if (problems.length > 0) throw problems[0];
  };
}

/** Reads the certificates of trusted clients, by thumbprint; each file once. */
function createTrustedFiles(folder: string): () => Promise<ReadonlyMap<string, string>> {
  let read = new Map<string, { readonly version: string; readonly certificate: X509Certificate | null }>();
  return async () => {
    const before = read;
    read = new Map();
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (isConfigured(path)) continue;
      const about = await stat(path).catch(unlessGone);
      if (about?.isFile() !== true || about.size > MOST_CHARACTERS) continue;
      const version = `${about.mtimeMs} ${about.ino} ${about.size}`;
      const known = before.get(path);
      read.set(path, known?.version === version ? known : { version, certificate: await readOne(path) });
    }
    const found = [...read.values()].flatMap(({ certificate }) =>
      certificate === null ? [] : [certificate],
    );
    return new Map(found.map((certificate) => [thumbprintOf(certificate.raw), certificate.toString()]));
  };
}

/** Null: somebody has moved it meanwhile, or it is no certificate. */
async function readOne(path: string): Promise<X509Certificate | null> {
  const content = await readFile(path).catch(unlessGone);
  try {
    return content && (certificatesOf(content)[0] ?? null);
  } catch {
    return null;
  }
}

/** A file that cannot be read is not one that an operator has taken away. */
function unlessGone(error: unknown): null {
  if (isCode(error, "ENOENT")) return null;
  throw error;
}

/** The server finds the file by the thumbprint in its name. */
async function addTrusted(folder: string, thumbprint: string, pem: string): Promise<void> {
  if (thumbprintOf(new X509Certificate(pem).raw) !== thumbprint)
    throw new Error(`what another box has trusted is not the certificate ${thumbprint}`);
  const part = join(folder, `${thumbprint}.part`);
  await writeFile(part, pem, { flush: true });
  await rename(part, join(folder, places.trusted, `shared[${thumbprint}].pem`));
}

const agreedCodec: Codec<Agreed> = {
  encode: (agreed) => agreed,
  decode(json) {
    if (!isJsonObject(json)) return null;
    const { isTrusted, revision, isOwn } = json;
    return typeof isTrusted === "boolean" && typeof revision === "number" && typeof isOwn === "boolean"
      ? { isTrusted, revision, isOwn }
      : null;
  },
};
