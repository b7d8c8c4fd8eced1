import type { Clock } from "../../platform/clock.ts";
import { createClockSkew } from "../clock-skew.ts";
import { createHttp } from "../http.ts";
import type { FleetOptions } from "../options.ts";
import { type ExchangeEnding, exchangeToken } from "../session/exchange.ts";
import { createExchangeBudget } from "../session/exchange-budget.ts";
import { createExchangeHistory } from "../session/exchange-history.ts";

/** The result of a trial of the API key. */
export type TokenTrial =
  | Exclude<ExchangeEnding, { readonly kind: "token" }>
  | { readonly kind: "token"; readonly jwt: string; readonly lifeMs: number; readonly skewMs: number | null }
  /** Nothing was asked: the gateway has used up the rate for this long. */
  | { readonly kind: "withheld"; readonly waitMs: number };

/**
 * Requests one token, once. It is one of the two requests of the documented rate that the gateway leaves
 * free; if the gateway has used up its own, nothing is asked. Writes nothing.
 */
export async function tryToken(
  options: FleetOptions,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<TokenTrial> {
  const waitMs = await waitForRate(options, clock);
  if (waitMs > 0) return { kind: "withheld", waitMs };
  const skew = createClockSkew(clock);
  const http = createHttp(options, clock, skew.received);
  try {
    const ending = await exchangeToken(options, http, clock, limitMs, signal);
    if (ending.kind !== "token") return ending;
    const { jwt, expiresAtMs, obtainedAtMs } = ending.token;
    return { kind: "token", jwt, lifeMs: expiresAtMs - obtainedAtMs, skewMs: skew.nowMs() };
  } finally {
    await http[Symbol.asyncDispose]();
  }
}

async function waitForRate({ cacheDirectory }: FleetOptions, clock: Clock): Promise<number> {
  if (cacheDirectory === null) return 0;
  const budget = createExchangeBudget();
  for (const atMs of await createExchangeHistory(cacheDirectory, clock).load()) budget.spend(atMs);
  return budget.waitMs(clock.monotonicMs());
}
