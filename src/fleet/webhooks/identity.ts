import { randomBytes } from "node:crypto";
import { chmod, rename } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../platform/json.ts";
import { readIfThere, replaceFile } from "../../platform/kept-file.ts";
import type { Log } from "../../platform/log.ts";
import { makeFolder } from "../../platform/make-folder.ts";

/** Identifies a gateway's own subscriptions, and their deliveries. */
export interface Identity {
  /** Stands in the description of our subscriptions. It is no secret. */
  readonly instance: string;
  /**
   * Stands in a header of every delivery, because deliveries are not signed (docs/internals/service.md,
   * WHK-37).
   */
  readonly secret: string;
}

const FILE = "webhook-secret.json";
const OWNER_ONLY = 0o600;

/**
 * Reads the identity in `directory`, or makes one there. A damaged file is renamed and logged: the earlier
 * subscriptions are then unknown. Rejects if the file cannot be read or written.
 */
export async function loadIdentity(directory: string, nowMs: number, log: Log): Promise<Identity> {
  await makeFolder(directory);
  const path = join(directory, FILE);
  const text = await readIfThere(path);
  if (text === undefined) return makeIdentity(path);
  await chmod(path, OWNER_ONLY);
  const kept = identityIn(text);
  if (kept === null) {
    const keptAs = `${path}.damaged-${new Date(nowMs).toISOString().replaceAll(":", "-")}`;
    await rename(path, keptAs);
    log.error(
      { path, keptAs },
      "the secret of webhooks cannot be read: subscriptions of before are refused, and new ones are made",
    );
    return makeIdentity(path);
  }
  return kept;
}

/** The identity in `directory`; null: none can be read. */
export async function readIdentity(directory: string): Promise<Identity | null> {
  const text = await readIfThere(join(directory, FILE));
  return text === undefined ? null : identityIn(text);
}

function identityIn(text: string): Identity | null {
  const kept: unknown = parse(text);
  const { instance, secret } = isJsonObject(kept) ? kept : {};
  if (typeof instance !== "string" || typeof secret !== "string" || secret.length < 32) return null;
  return { instance, secret };
}

async function makeIdentity(path: string): Promise<Identity> {
  const identity = {
    instance: randomBytes(8).toString("hex"),
    secret: randomBytes(32).toString("base64url"),
  };
  await replaceFile(path, JSON.stringify(identity), { mode: OWNER_ONLY });
  return identity;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the text, which is a secret; the caller names the file.
    return null;
  }
}
