import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { readIfThere } from "../../platform/kept-file.ts";
import { writeWhole } from "../scenario/scenario.ts";

/**
 * An API key document (docs/internals/service.md, How deployed services behave): its three fields belong
 * together.
 */
export interface ApiKey {
  readonly api_key: string;
  /** The distributor that the key is authorized for. */
  readonly scope: string;
  readonly secret: string;
}

/** An API key and the file that a client is given. */
export interface IssuedKey {
  readonly file: string;
  readonly key: ApiKey;
}

/** The shape of an API key document; further keys are allowed, because documents carry notes. */
export const apiKeySchema = z.object({
  api_key: z.string().min(1).max(200),
  scope: z.string().min(1).max(200),
  secret: z.string().min(1).max(1_000),
});

/** A key of a scenario; without a secret, one is made up. */
export interface KeyWish {
  readonly apiKey: string;
  readonly scope: string;
  readonly secret: string | undefined;
}

/**
 * Writes an API key document for each key into the data folder, readable by its owner only:
 * `credentials.json` for the first, `credentials-<api key>.json` for the others. A missing secret is that of
 * an earlier start, or random.
 */
export async function issueKeys(dataDir: string, wishes: readonly KeyWish[]): Promise<readonly IssuedKey[]> {
  const issued: IssuedKey[] = [];
  for (const [position, { apiKey, scope, secret }] of wishes.entries()) {
    const name = position === 0 ? "credentials" : `credentials-${encodeURIComponent(apiKey)}`;
    const file = join(dataDir, `${name}.json`);
    const stored = await storedKey(file);
    const kept = stored?.api_key === apiKey && stored.scope === scope ? stored.secret : undefined;
    const key = { api_key: apiKey, scope, secret: secret ?? kept ?? newSecret() };
    await writeWhole(file, `${JSON.stringify(key, null, 2)}\n`, "secret");
    issued.push({ file, key });
  }
  return issued;
}

async function storedKey(file: string): Promise<ApiKey | undefined> {
  const text = await readIfThere(file);
  return text === undefined ? undefined : apiKeySchema.safeParse(parseJson(text)).data;
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** The parsed text; undefined when it is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A damaged document is replaced by a new one.
    return undefined;
  }
}
