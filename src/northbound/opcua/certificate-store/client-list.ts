import { join } from "node:path";
import type {
  CertificateDecision,
  ClientCertificate,
  ClientCertificates,
} from "../../../contracts/client-certificates.ts";
import type { Clock } from "../../../platform/clock.ts";
import { plainStart } from "../../../platform/plain-text.ts";
import { createTurns } from "../../../platform/queues.ts";
import { applicationWarnings } from "./certificate-facts.ts";
import { type Movable, moveCertificates } from "./move.ts";
import { CertificateRefused, isConfigured, type Place, readStore } from "./store.ts";

interface Found extends Movable {
  readonly place: Place;
  readonly since: string;
}

const LONGEST_TEXT = 400;
const NOT_RUNNING = "the OPC UA server is not running";

/**
 * The certificates of clients in the folders of `fleetgate certs`.
 *
 * @param folder the folder of the running server; null while it does not run
 */
export function createClientList(
  folder: () => string | null,
  clock: Pick<Clock, "nowMs">,
): ClientCertificates {
  const storeNow = () => {
    const path = folder();
    return path === null ? null : join(path, "server");
  };

  /** One decision at a time: two at once could move one file twice. */
  const inTurn = createTurns();

  const find = (store: string) => findClients(store, clock.nowMs());

  async function decide(thumbprint: string, isTrusted: boolean): Promise<CertificateDecision> {
    const store = storeNow();
    if (store === null) return { kind: "refused", reason: NOT_RUNNING };
    const found = await find(store);
    if (!found.some(({ facts }) => facts.thumbprint === thumbprint)) return { kind: "unknown" };
    try {
      const to = isTrusted ? "trusted" : "rejected";
      const [moved] = await moveCertificates(store, found, [thumbprint], to);
      const [certificate] = shown(await find(store)).filter((each) => each.thumbprint === thumbprint);
      if (moved === undefined || certificate === undefined) return { kind: "unknown" };
      return { kind: "done", certificate, isNew: moved.isNew };
    } catch (error) {
      if (error instanceof CertificateRefused) return { kind: "refused", reason: error.message };
      throw error;
    }
  }

  return {
    async list() {
      const store = storeNow();
      return store === null ? [] : shown(await find(store));
    },
    decide: (thumbprint, isTrusted) => inTurn(() => decide(thumbprint, isTrusted)),
  };
}

/** The certificates of clients that are trusted or wait for approval. */
export async function findClients(store: string, nowMs: number): Promise<readonly Found[]> {
  const stored = await readStore(store, nowMs);
  return stored.flatMap(({ place, path, since, content }) =>
    "damage" in content || (place !== "rejected" && place !== "trusted")
      ? []
      : [{ place, path, since, facts: content.facts, warnings: applicationWarnings(content.facts, nowMs) }],
  );
}

/** Each certificate once: a copy among the trusted ones means that its client is trusted. */
function shown(found: readonly Found[]): readonly ClientCertificate[] {
  const byThumbprint = new Map<string, Found>();
  for (const each of found) {
    const { thumbprint } = each.facts;
    if (each.place === "trusted" || !byThumbprint.has(thumbprint)) byThumbprint.set(thumbprint, each);
  }
  return [...byThumbprint.values()].map(({ place, path, since, facts, warnings }) => ({
    thumbprint: facts.thumbprint,
    isTrusted: place === "trusted",
    isConfigured: place === "trusted" && isConfigured(path),
    isCa: facts.isCa,
    // A client wrote these texts, and a person decides by them.
    subject: plainStart(facts.subject, LONGEST_TEXT),
    issuer: plainStart(facts.issuer, LONGEST_TEXT),
    applicationUri: facts.applicationUri === null ? null : plainStart(facts.applicationUri, LONGEST_TEXT),
    since,
    validFrom: facts.validFrom,
    validTo: facts.validTo,
    warnings,
  }));
}
