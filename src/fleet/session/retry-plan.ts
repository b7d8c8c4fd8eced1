import { type Chance, createBackoff } from "../../platform/backoff.ts";
import type { FleetTimes } from "../options.ts";
import type { ExchangeEnding, Token } from "./exchange.ts";

/** When the next token request is due. Milliseconds from the end of the request before. */
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
/** Attempts at this distance stay within the documented rate for ever. */
const LONGEST_RETRY_MS = 20_000;
/** Between attempts with a key that the server refuses. */
export const REFUSED_RETRY_MS = 60_000;
const LIMITED_RETRY_MS = 60_000;
/**
 * A Retry-After counts up to the window of the documented rate: after that the server owes an answer,
 * whatever it said.
 */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

export function createRetryPlan(times: FleetTimes, chance: Chance): RetryPlan {
  // If no server was reached, a long backoff protects nobody, so it stays short.
  const unreached = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, chance);
  /**
   * In a row, what the server answered and what needs another request soon: failures, and tokens that live
   * for seconds.
   */
  let failures = 0;

  /** From the beginning of one attempt that fails at the server to the next. */
  const distanceMs = () => Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
  const jittered = (delayMs: number) => delayMs * (0.75 + 0.25 * chance());

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
      // A token that lives shorter than the margin is still used for most of its life.
      const marginMs = Math.min(times.tokenMarginMs, lifeMs / 4);
      const renewalMs = Math.min(times.tokenRefreshMs * (1 + REFRESH_JITTER * chance()), lifeMs - marginMs);
      if (renewalMs >= LONGEST_RETRY_MS) {
        failures = 0;
        return renewalMs;
      }
      // Renewed in time, a few of these would use up the rate, and a token that lasts could not be had.
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
          // At the longest there is no jitter: what is left out would be missing in the window later on.
          return retryMs === LONGEST_RETRY_MS ? retryMs : jittered(retryMs);
      }
    },
    // A server that hangs may never answer the request that it took, though it answers the next one: so the
    // first attempts are short. Later ones wait as long as the rate makes them: a slow server gets its
    // chance.
    deadlineMs: () => Math.min(times.callMs, Math.max(times.pollTimeoutMs, distanceMs())),
  };
}
