import { decodeJwt, type JWTPayload } from "jose";
import type { Clock } from "../../platform/clock.ts";
import { errorText } from "../error-text.ts";
import { type Http, NothingSent, retryAfterMs } from "../http.ts";
import type { FleetOptions } from "../options.ts";

/** A JWT and how long it can be used, on the gateway's monotonic clock. */
export interface Token {
  readonly jwt: string;
  readonly obtainedAtMs: number;
  /** Its `exp`, converted by the server's own clock, because ours may be wrong. */
  readonly expiresAtMs: number;
  /** Its `exp` as the server wrote it, for people: milliseconds since 1970, by the server's clock. */
  readonly expMs: number;
}

/** The ending of one exchange. `message` is free of secrets. */
export type ExchangeEnding =
  | { readonly kind: "token"; readonly token: Token }
  /** The key is wrong (401) or malformed (400): asking again soon does not help. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "limited"; readonly message: string; readonly retryAfterMs: number | null }
  | { readonly kind: "failed"; readonly message: string }
  /** There was no connection, so nothing was asked: it does not count towards the rate. */
  | { readonly kind: "unreached"; readonly message: string };

/** Far more than any token, and little for a gateway's memory. */
const LARGEST_TOKEN_BYTES = 64 * 1024;
/** The longest header that servers accept. */
const LONGEST_TOKEN = 8_192;
/** A token of a shorter life helps no call, and renewing it would use up the documented rate. */
const SHORTEST_LIFE_MS = 1_000;
/** Three parts of base64url, of which the signature may be empty (RFC 7515, JWS Compact Serialization). */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/**
 * Exchanges the API key document for a JWT within `deadlineMs` (docs/internals/service.md, END-24). Never
 * rejects.
 */
export async function exchangeToken(
  options: FleetOptions,
  http: Http,
  clock: Clock,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<ExchangeEnding> {
  const { apiKey, scope, secret } = options.credentials;
  try {
    const answer = await http.send({
      verb: "POST",
      url: `${options.authUrl}/authorizeApiAccess`,
      headers: {},
      body: JSON.stringify({ api_key: apiKey, scope, secret }),
      deadlineMs,
      largestBytes: LARGEST_TOKEN_BYTES,
      signal,
      // A second token does no harm, and the caller counts the rate.
      reads: true,
    });
    const serverNowMs = Date.parse(answer.headers.date ?? "");
    const clockSkewMs = Number.isNaN(serverNowMs) ? 0 : serverNowMs - clock.nowMs();
    return evaluate(answer.status, String(Buffer.concat(answer.parts)), answer.headers, clock, clockSkewMs);
  } catch (error) {
    const kind = error instanceof NothingSent ? "unreached" : "failed";
    return { kind, message: errorText(error) };
  }
}

type Evaluation = Exclude<ExchangeEnding, { kind: "unreached" }>;

function evaluate(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
  clock: Clock,
  clockSkewMs: number,
): Evaluation {
  if (status === 429) {
    return {
      kind: "limited",
      message: "the authentication server answers 429: too many token requests",
      retryAfterMs: retryAfterMs(headers, clock.nowMs() + clockSkewMs),
    };
  }
  if (status === 400 || status === 401 || status === 403) {
    return { kind: "refused", message: `the authentication server refuses the API key (${status})` };
  }
  if (status !== 200) return { kind: "failed", message: `the authentication server answers ${status}` };
  return readToken(text, clock, clockSkewMs);
}

/**
 * Checks a token before it is used. In a header, other characters would throw an error that quotes the token;
 * so no message here quotes any of it.
 */
function readToken(text: string, clock: Clock, clockSkewMs: number): Evaluation {
  // Some servers answer with the bare JWT, some with the JWT as a JSON text.
  const jwt = text.trim().replace(/^"(.*)"$/, "$1");
  const wrong = (what: string): Evaluation => ({ kind: "failed", message: what });
  if (jwt.length > LONGEST_TOKEN) return wrong(`the token is longer than ${LONGEST_TOKEN} characters`);
  if (!JWT.test(jwt))
    return wrong("the authentication server's answer is no JWT: it has other characters or parts");
  const claims = claimsOf(jwt);
  if (claims === null)
    return wrong("the authentication server's answer is no JWT: its payload is no JSON object");
  const exp: unknown = claims.exp;
  if (exp === undefined) return wrong("the token has no `exp`");
  if (typeof exp !== "number" || !Number.isFinite(exp)) return wrong("the token's `exp` is no number");
  const lifeMs = exp * 1000 - (clock.nowMs() + clockSkewMs);
  if (lifeMs <= 0) return wrong("the token has expired already when it is issued");
  if (lifeMs < SHORTEST_LIFE_MS) return wrong("the token lives for less than a second");
  const nowMs = clock.monotonicMs();
  return {
    kind: "token",
    token: { jwt, obtainedAtMs: nowMs, expiresAtMs: nowMs + lifeMs, expMs: exp * 1000 },
  };
}

/** Null: the payload cannot be read. */
function claimsOf(jwt: string): JWTPayload | null {
  try {
    return decodeJwt(jwt);
  } catch {
    // The error may quote the payload.
    return null;
  }
}

/**
 * The documented rate of the token exchange: 20 requests in 5 minutes for one key
 * and address (docs/internals/service.md, ERR-56). Two are left for a person who tries the key by hand.
 */
const windowMs = 5 * 60_000;
const requestsInWindow = 18;

/** Counts token requests, so that no failure makes the gateway exceed the rate. Monotonic milliseconds. */
export interface ExchangeBudget {
  /** How long to wait before the next request is allowed; 0: now. */
  waitMs(nowMs: number): number;
  /** How many requests are still allowed at this moment. */
  left(nowMs: number): number;
  spend(nowMs: number): void;
  /** The last request was not made after all. */
  refund(): void;
  /** The times of the requests in the window. */
  spent(): readonly number[];
}

/** A sliding window: exact, and small enough to keep every moment. */
export function createExchangeBudget(sharers: number): ExchangeBudget {
  const most = Math.floor(requestsInWindow / sharers);
  const spent: number[] = [];
  const forget = (nowMs: number) => {
    while (spent[0] !== undefined && spent[0] <= nowMs - windowMs) spent.shift();
  };
  return {
    waitMs(nowMs) {
      forget(nowMs);
      const oldest = spent[spent.length - most];
      return oldest === undefined ? 0 : oldest + windowMs - nowMs;
    },
    left(nowMs) {
      forget(nowMs);
      return most - spent.length;
    },
    spend(nowMs) {
      spent.push(nowMs);
    },
    refund: () => void spent.pop(),
    spent: () => spent,
  };
}
