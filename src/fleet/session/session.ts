import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { Http } from "../http.ts";
import type { FleetOptions } from "../options.ts";
import { type ExchangeEnding, exchangeToken, type Token } from "./exchange.ts";
import { createExchangeBudget } from "./exchange-budget.ts";
import type { ExchangeHistory } from "./exchange-history.ts";

/** What the session can say of itself. */
export interface SessionState {
  /** Why there is no usable token; null while there is one. */
  readonly problem: string | null;
  /**
   * Why the token in use cannot be renewed, and when it ends; null while it can be, as far as is known, or there
   * is none. It counts from the second failure in a row, for the next attempt mends most within seconds,
   * and at once where the key is refused: nobody but a person mends that.
   */
  readonly renewalProblem: string | null;
  /** Whether the authentication server said no, rather than nothing or an error of its own. */
  readonly isRefused: boolean;
  readonly tokenAgeSeconds: number | null;
  readonly tokenSecondsLeft: number | null;
  readonly exchanges: number;
  readonly failures: number;
}

/** One JWT for every channel and for REST. */
export interface Session {
  /** The token to use now; null while there is none that is valid. */
  token(): string | null;
  /** Waits for a valid token. Resolves null when the signal is aborted first. */
  authorized(signal: AbortSignal): Promise<string | null>;
  /**
   * The service refused this token: gets another, if the documented rate allows.
   * Resolves with one that is not `refused`, or null when the signal is aborted
   * or the exchange fails.
   */
  replace(refused: string, signal: AbortSignal): Promise<string | null>;
  state(): SessionState;
  /** Gets and renews the token until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface SessionParts {
  readonly http: Http;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  /** What earlier processes have asked for; null: nothing is known of them. */
  readonly history: ExchangeHistory | null;
}

const TOO_MANY = "it waits, for no more token requests are allowed now (20 in 5 minutes)";
const DISK_PATIENCE_MS = 1_000;
/** A token is renewed at 15 to 20 minutes (fleet-service-interface, Authentication): `tokenRefreshMs`, or up to a third later. */
const REFRESH_JITTER = 1 / 3;
const FIRST_RETRY_MS = 1_000;
/** Attempts at this distance stay within the documented rate for ever. */
const LONGEST_RETRY_MS = 20_000;
const REFUSED_RETRY_MS = 60_000;
const LIMITED_RETRY_MS = 60_000;
/** A Retry-After counts up to the window of the documented rate: after that the server owes an answer, whatever it said. */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;
/** A refused token younger than this is not the token's fault: another would fare no better. */
const YOUNGEST_REPLACED_MS = 5_000;
/** Requests kept back for the ordinary refresh when calls ask for a new token. */
const KEPT_BACK = 4;
/** Failures in a row from which on they are told, while the token in use still counts. */
const NOTABLE_FAILURES = 2;
/** The last moment that has a date: a server may write any number. */
const LAST_DATE_MS = 8.64e15;

/** At most one exchange is in flight, for there is one loop that makes them. */
export function createSession(options: FleetOptions, parts: SessionParts): Session {
  const { clock, chance, log } = parts;
  const budget = createExchangeBudget();
  const { backoffBaseMs: baseMs, backoffCapMs: capMs } = options.times;
  // Where nobody was reached nobody is spared by waiting long.
  const reach = createBackoff({ baseMs, capMs }, chance);
  const waiters = new Set<() => void>();
  let token: Token | null = null;
  let problem: string | null = "no token yet";
  let isRefused = false;
  /** When it is asked again, by the wall clock, where the rate is what keeps it waiting; null: it is not. */
  let againAtMs: number | null = null;
  let exchanges = 0;
  let failures = 0;
  let failuresInARow = 0;
  /** Of these, those that reached the server: the others cost it nothing. */
  let asksInVain = 0;
  let rejected: string | null = null;
  /** Whether it was said that tokens are refused, and when one was refused last. */
  let wasRefused = false;
  let refusedAtMs = 0;
  let wake: () => void = () => {};

  const usable = (): Token | null =>
    token !== null && token.jwt !== rejected && clock.monotonicMs() < token.expiresAtMs ? token : null;

  /** Resolves at the next end of an exchange, or when the signal is aborted. */
  function nextEnding(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let letGo = () => {};
      const done = () => {
        waiters.delete(done);
        letGo();
        resolve();
      };
      waiters.add(done);
      letGo = onAbort(signal, done);
    });
  }

  /** Takes note of how an exchange ended; tells in how many milliseconds the next is due. */
  function settle(ending: ExchangeEnding): number {
    isRefused = ending.kind === "refused";
    if (ending.kind === "token") {
      if (failuresInARow > 0 || token === null) log.info({}, "a token has been obtained");
      failuresInARow = 0;
      asksInVain = 0;
      rejected = null;
      problem = null;
      token = ending.token;
      return refreshDelayMs(ending.token);
    }
    failures += 1;
    failuresInARow += 1;
    const retryMs = nextRetryMs();
    if (ending.kind !== "unreached") asksInVain += 1;
    // Without another, the refused one may as well be tried again: the service may have changed its mind.
    rejected = null;
    if (problem !== ending.message) log.warn({ problem: ending.message }, "no new token");
    problem = ending.message;
    if (ending.kind === "unreached") return reach.nextMs();
    if (ending.kind === "limited") return limitedRetryMs(ending.retryAfterMs, retryMs);
    if (ending.kind === "refused") return jittered(REFUSED_RETRY_MS);
    // At the longest there is no jitter: what is left out would be missing in the window later on.
    return retryMs === LONGEST_RETRY_MS ? retryMs : jittered(retryMs);
  }

  /** As the server asks, but no sooner than the rate bears: its wish for a second would use up the rate in a quarter of a minute. */
  function limitedRetryMs(wishedMs: number | null, retryMs: number): number {
    if (wishedMs === null) return jittered(LIMITED_RETRY_MS);
    return Math.max(retryMs, Math.min(wishedMs, LONGEST_RETRY_AFTER_MS));
  }

  /** Why there is no new token, and when that may change if it is known. */
  function problemNow(): string {
    const why = problem ?? "the token has expired";
    return againAtMs === null ? why : `${why}; asked again at ${utc(againAtMs)}`;
  }

  function renewalProblem(): string | null {
    const inUse = usable();
    if (inUse === null) return null;
    if (failuresInARow === 0 || (failuresInARow < NOTABLE_FAILURES && !isRefused)) return null;
    return `${problemNow()}; the one in use ends at ${utc(inUse.expMs)}`;
  }

  /** From the beginning of one attempt that reaches the server in vain to the next. */
  const nextRetryMs = () => Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** asksInVain);

  /**
   * A server that hangs may never answer the request that it took, though it answers the next one: so the
   * first attempts are short. Later ones wait as long as the rate makes them: a slow server gets its chance.
   */
  const deadlineMs = () =>
    Math.min(options.times.callMs, Math.max(options.times.pollTimeoutMs, nextRetryMs()));

  const jittered = (delayMs: number) => delayMs * (0.75 + 0.25 * chance());

  function refreshDelayMs({ obtainedAtMs, expiresAtMs }: Token): number {
    const lifeMs = expiresAtMs - obtainedAtMs;
    // A token shorter than the margin must still be used for most of its life.
    const marginMs = Math.min(options.times.tokenMarginMs, lifeMs / 4);
    const ageMs = options.times.tokenRefreshMs * (1 + REFRESH_JITTER * chance());
    return Math.min(ageMs, lifeMs - marginMs);
  }

  /** A disk that hangs must not keep the gateway from its token: null when it takes too long. */
  async function patiently<T>(work: Promise<T> | undefined, signal: AbortSignal): Promise<T | null> {
    if (work === undefined) return null;
    const over = new AbortController();
    const stop = () => over.abort();
    signal.addEventListener("abort", stop, { once: true });
    const found = await Promise.race([work, sleep(clock, DISK_PATIENCE_MS, over.signal).then(() => null)]);
    over.abort();
    signal.removeEventListener("abort", stop);
    return found;
  }

  /** Waits until the time has passed, `wake` is called or the signal is aborted. */
  function pause(delayMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = clock.after(delayMs, () => wake());
      wake = () => {
        wake = () => {};
        cancel();
        letGo();
        resolve();
      };
      const letGo = onAbort(signal, () => wake());
    });
  }

  return {
    token: () => usable()?.jwt ?? null,
    async authorized(signal) {
      for (let now = usable(); ; now = usable()) {
        if (now !== null) return now.jwt;
        if (signal.aborted) return null;
        await nextEnding(signal);
      }
    },
    async replace(refused, signal) {
      const other = usable();
      if (other !== null && other.jwt !== refused) return other.jwt;
      const nowMs = clock.monotonicMs();
      // A minute without a refusal: the next one is news.
      if (nowMs - refusedAtMs > REFUSED_RETRY_MS) wasRefused = false;
      refusedAtMs = nowMs;
      if (signal.aborted || token === null) return null;
      if (nowMs - token.obtainedAtMs < YOUNGEST_REPLACED_MS) return null;
      // A retry is due already, at a distance that spares the authentication server.
      if (failuresInARow > 0) return null;
      if (budget.left(nowMs) <= KEPT_BACK) return null;
      if (!wasRefused) log.warn({}, "the service refuses the token: asking for another");
      wasRefused = true;
      rejected = refused;
      const ending = nextEnding(signal);
      wake();
      await ending;
      const found = usable();
      // After an exchange that failed the refused one counts again, and is no other.
      return found === null || found.jwt === refused ? null : found.jwt;
    },
    state() {
      const nowMs = clock.monotonicMs();
      return {
        problem: usable() === null ? problemNow() : null,
        renewalProblem: renewalProblem(),
        isRefused,
        tokenAgeSeconds: token === null ? null : Math.round((nowMs - token.obtainedAtMs) / 1000),
        tokenSecondsLeft: token === null ? null : Math.round((token.expiresAtMs - nowMs) / 1000),
        exchanges,
        failures,
      };
    },
    async run(signal) {
      for (const atMs of (await patiently(parts.history?.load(), signal)) ?? []) budget.spend(atMs);
      while (!signal.aborted) {
        const waitMs = budget.waitMs(clock.monotonicMs());
        if (waitMs > 0) {
          if (usable() === null) problem = TOO_MANY;
          againAtMs = clock.nowMs() + waitMs;
          await pause(waitMs, signal);
          continue;
        }
        againAtMs = null;
        const beganAtMs = clock.monotonicMs();
        budget.spend(beganAtMs);
        await patiently(parts.history?.keep(budget.spent(), log), signal);
        const ending = await exchangeToken(options, parts.http, clock, deadlineMs(), signal);
        if (ending.kind === "unreached") budget.refund();
        else {
          exchanges += 1;
          reach.reset();
        }
        const delayMs = settle(ending);
        againAtMs = ending.kind === "limited" ? clock.nowMs() + delayMs : null;
        for (const waiter of [...waiters]) waiter();
        // The time that an attempt hung counts as waited.
        const mayHang = ending.kind === "unreached" || ending.kind === "failed";
        await pause(delayMs - (mayHang ? clock.monotonicMs() - beganAtMs : 0), signal);
      }
      for (const waiter of [...waiters]) waiter();
    },
  };
}

function utc(atMs: number): string {
  return new Date(Math.min(atMs, LAST_DATE_MS)).toISOString().replace(/\.\d+/, "");
}
