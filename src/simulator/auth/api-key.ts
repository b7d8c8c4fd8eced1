import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { Clock } from "../../platform/clock.ts";
import { parsedJson } from "../../platform/json.ts";
import { readIfThere } from "../../platform/kept-file.ts";
import type { CodeName } from "../refusal.ts";
import { writeWhole } from "../scenario/scenario.ts";
import type { Tokens } from "./token.ts";

/** The answer of the exchange: a JWT, or a status with an explanation. */
export type ExchangeAnswer =
  | { readonly status: 200; readonly token: string }
  | { readonly status: number; readonly code: CodeName; readonly message: string };

/** POST /authorizeApiAccess, without its HTTP. */
export interface Exchange {
  /** `body` is the parsed JSON; undefined: it is no JSON. `address` is the client's. */
  ask(body: unknown, address: string): Promise<ExchangeAnswer>;
}

/**
 * How many exchanges are answered (docs/internals/service.md, ERR-56: 20 in 5 minutes, 100 in 10 minutes).
 */
export interface ExchangeLimits {
  readonly perKeyAndAddress: Limit;
  readonly perAddress: Limit;
}

export const deployedLimits: ExchangeLimits = {
  perKeyAndAddress: { count: 20, windowMs: 300_000 },
  perAddress: { count: 100, windowMs: 600_000 },
};

interface ExchangeOptions {
  readonly keys: readonly ApiKey[];
  readonly tokens: Tokens;
  readonly limits: ExchangeLimits;
  readonly clock: Clock;
  /** The answer to give instead while a fault is switched on. */
  fault(): ExchangeAnswer | undefined;
}

/**
 * The credential exchange. 429 past a limit, whatever the request; 400 for a
 * malformed one; 401 when the three fields do not match a key together.
 */
export function createExchange(options: ExchangeOptions): Exchange {
  const nowMs = () => options.clock.monotonicMs();
  const perAddress = createRateLimit(options.limits.perAddress, nowMs);
  const perKey = createRateLimit(options.limits.perKeyAndAddress, nowMs);
  return {
    async ask(body, address) {
      if (!perAddress.admit(address)) return tooMany("this address");
      const parsed = apiKeySchema.safeParse(body);
      if (!parsed.success) {
        const problems = parsed.error.issues.map(
          (issue) => `${issue.path.join(".") || "body"}: ${issue.message}`,
        );
        return {
          status: 400,
          code: "INVALID_ARGUMENT",
          message: `no API key document: ${problems.join("; ")}`,
        };
      }
      // As JSON: so two pairs never share a count, whatever characters they contain.
      if (!perKey.admit(JSON.stringify([parsed.data.api_key, address])))
        return tooMany("this key and address");
      const fault = options.fault();
      if (fault !== undefined) return fault;
      const key = options.keys.find((candidate) => matches(candidate, parsed.data));
      if (key === undefined) {
        return {
          status: 401,
          code: "UNAUTHENTICATED",
          message: "api_key, scope and secret do not belong together, or the key is not known",
        };
      }
      return {
        status: 200,
        token: await options.tokens.issue({ distributor: key.scope, apiKey: key.api_key }),
      };
    },
  };
}

function tooMany(who: string): ExchangeAnswer {
  return {
    status: 429,
    code: "RESOURCE_EXHAUSTED",
    message: `too many exchanges from ${who}: keep the token and use it until it expires`,
  };
}

/** Compares all three fields in a time that does not reveal how much of the secret was right. */
function matches(key: ApiKey, asked: ApiKey): boolean {
  const digest = ({ api_key, scope, secret }: ApiKey) =>
    createHash("sha256")
      .update(JSON.stringify([api_key, scope, secret]))
      .digest();
  return timingSafeEqual(digest(key), digest(asked));
}

/** At most `count` requests in any `windowMs`. */
export interface Limit {
  readonly count: number;
  readonly windowMs: number;
}

/** Counts requests of many clients against one limit. */
interface RateLimit {
  /** Counts one request of `client`. False: it is past the limit, and not counted. */
  admit(client: string): boolean;
}

/** How many clients are remembered: one client with many addresses must not fill the memory. */
const MOST_CLIENTS = 10_000;

/**
 * A sliding window for each client. Refused requests are not counted: a client that keeps asking passes as
 * soon as its window allows it.
 */
function createRateLimit(limit: Limit, nowMs: () => number): RateLimit {
  const admittedMs = new BoundedMap<string, number[]>(MOST_CLIENTS);
  return {
    admit(client) {
      const now = nowMs();
      const recent = (admittedMs.get(client) ?? []).filter((at) => now - at < limit.windowMs);
      const admitted = recent.length < limit.count;
      if (admitted) recent.push(now);
      admittedMs.set(client, recent);
      return admitted;
    },
  };
}

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
const apiKeySchema = z.object({
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
  // A damaged document is replaced by a new one.
  return text === undefined ? undefined : apiKeySchema.safeParse(parsedJson(text)).data;
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}
