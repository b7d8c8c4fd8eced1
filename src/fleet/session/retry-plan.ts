import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import type { FleetTimes } from "../options.ts";
import type { ExchangeEnding, Token } from "./exchange.ts";

/** When the next token request is due, in milliseconds from the end of the last one. */
export interface RetryPlan {
  /** After a token: its renewal. */
  renewalMs(token: Token): number;
  /** After a failure: the next attempt. */
  retryMs(ending: Exclude<ExchangeEnding, { kind: "token" }>): number;
  /** How long the next request may take. */
  deadlineMs(): number;
}

/**
 * A token is renewed at 15 to 20 minutes (docs/service.md, How deployed services behave): `tokenRefreshMs`,
 * or up to a third later.
 */
const REFRESH_JITTER = 1 / 3;
const FIRST_RETRY_MS = 1_000;
/** Attempts at this distance always stay within the documented rate. */
const LONGEST_RETRY_MS = 20_000;
/** Between attempts with a refused key. */
export const REFUSED_RETRY_MS = 60_000;
const LIMITED_RETRY_MS = 60_000;
/**
 * A longer Retry-After does not count: this is the window of the documented rate, after which the server must
 * answer.
 */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

export function createRetryPlan(times: FleetTimes, random: RandomSource): RetryPlan {
  // If no server was reached, a long backoff protects nobody, so it stays short.
  const unreached = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, random);
  /**
   * Answers of the server in a row after which another request is due soon: failures, and tokens that live
   * for seconds.
   */
  let failures = 0;

  /** From the beginning of one attempt that fails at the server to the next. */
  const distanceMs = () => Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
  const jittered = (delayMs: number) => delayMs * (0.75 + 0.25 * random());

  /**
   * As the server asks, but within the rate: one request a second would use it up in a quarter of a minute.
   */
  function limitedMs(wishedMs: number | null, leastMs: number): number {
    if (wishedMs === null) return jittered(LIMITED_RETRY_MS);
    return Math.max(leastMs, Math.min(wishedMs, LONGEST_RETRY_AFTER_MS));
  }

  return {
    renewalMs({ obtainedAtMs, expiresAtMs }) {
      unreached.reset();
      const lifeMs = expiresAtMs - obtainedAtMs;
      // A token with a life shorter than the margin is still used for most of its life.
      const marginMs = Math.min(times.tokenMarginMs, lifeMs / 4);
      const renewalMs = Math.min(times.tokenRefreshMs * (1 + REFRESH_JITTER * random()), lifeMs - marginMs);
      if (renewalMs >= LONGEST_RETRY_MS) {
        failures = 0;
        return renewalMs;
      }
      // If they were renewed in time, a few of these would use up the rate, and none would be left for a
      // lasting token.
      const retryMs = Math.max(renewalMs, distanceMs());
      failures += 1;
      return retryMs;
    },
    retryMs(ending) {
      if (ending.kind === "unreached") return unreached.nextMs();
      unreached.reset();
      const retryMs = distanceMs();
      failures += 1;
      switch (ending.kind) {
        case "limited":
          return limitedMs(ending.retryAfterMs, retryMs);
        case "refused":
          return jittered(REFUSED_RETRY_MS);
        case "failed":
          // At the longest distance there is no jitter: an earlier attempt would be missing in the window
          // later on.
          return retryMs === LONGEST_RETRY_MS ? retryMs : jittered(retryMs);
      }
    },
    // A server that hangs may never answer the request that it took, and still answer the next one: so the
    // first attempts are short. Later ones wait as long as the rate makes them, for the sake of a slow
    // server.
    deadlineMs: () => Math.min(times.callMs, Math.max(times.pollTimeoutMs, distanceMs())),
  };
}
