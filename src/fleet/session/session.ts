import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Clock, noLaterThan } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { Http } from "../http.ts";
import type { FleetOptions, FleetTimes } from "../options.ts";
import { createExchangeBudget, type ExchangeEnding, exchangeToken, type Token } from "./exchange.ts";
import { createExchangeRecord, type ExchangeHistory, type ExchangeRecord } from "./exchange-history.ts";

/** The state of the session. */
export interface SessionState {
  /** Why there is no usable token; null: there is one. */
  readonly problem: string | null;
  /**
   * Why the token in use cannot be renewed, and when it ends; null: no reason is known, or there is no token.
   * It is set from the second failure in a row on, because the next attempt mends most failures within
   * seconds; and at once if the key is refused, because only a person mends that.
   */
  readonly renewalProblem: string | null;
  /** Whether the authentication server refused the key, and did not just fail. */
  readonly isRefused: boolean;
  readonly tokenAgeSeconds: number | null;
  readonly tokenSecondsLeft: number | null;
  readonly exchanges: number;
  readonly failures: number;
}

/** One JWT for every channel and for REST. */
export interface Session {
  /** The token to use now; null: there is no valid one. */
  token(): string | null;
  /** Waits for a valid token. Resolves with null if the signal is aborted first. */
  authorized(signal: AbortSignal): Promise<string | null>;
  /**
   * The service refused this token: gets another, if the documented rate allows it. Resolves with a token
   * other than `refused`, or with null if the signal is aborted or the exchange fails.
   */
  replace(refused: string, signal: AbortSignal): Promise<string | null>;
  state(): SessionState;
  /** Gets and renews the token until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface SessionParts {
  readonly http: Http;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** The requests of earlier processes; null: nothing is known of them. */
  readonly history: ExchangeHistory | null;
}

/** A disk that hangs delays the token by this much at most. */
const DISK_WAIT_MS = 1_000;
/** A service that refuses a younger token would refuse another one too. */
const YOUNGEST_REPLACED_MS = 5_000;
/** Requests that are reserved for the ordinary refresh when calls need a new token. */
const KEPT_BACK = 4;

/** At most one exchange is in flight, because one loop makes them all. */
export function createSession(options: FleetOptions, parts: SessionParts): Session {
  const { clock, log } = parts;
  const budget = createExchangeBudget(options.sharers);
  const plan = createRetryPlan(options.times, parts.random);
  const record = createExchangeRecord(log);
  const endings = createEndings();
  const pause = createPause(clock);
  const refusals = createRefusalLog(clock, log);
  let token: Token | null = null;
  let rejected: string | null = null;

  const usable = (): Token | null =>
    token !== null && token.jwt !== rejected && clock.monotonicMs() < token.expiresAtMs ? token : null;

  /** @returns in how many milliseconds the next exchange is due */
  function settle(ending: ExchangeEnding, beganAtMs: number): number {
    // Without another token, the refused one may as well be tried again: the service may accept it now.
    rejected = null;
    record.note(ending);
    if (ending.kind === "token") token = ending.token;
    const delayMs = ending.kind === "token" ? plan.renewalMs(ending.token) : plan.retryMs(ending);
    record.waitsUntil(ending.kind === "limited" ? clock.nowMs() + delayMs : null);
    // The duration of a hanging attempt counts as waited.
    const mayHang = ending.kind === "unreached" || ending.kind === "failed";
    return delayMs - (mayHang ? clock.monotonicMs() - beganAtMs : 0);
  }

  async function exchange(signal: AbortSignal): Promise<number> {
    const beganAtMs = clock.monotonicMs();
    budget.spend(beganAtMs);
    if (parts.history !== null) {
      await noLaterThan(clock, DISK_WAIT_MS, parts.history.keep(budget.spent(), log), null);
    }
    const ending = await exchangeToken(options, parts.http, clock, plan.deadlineMs(), signal);
    if (ending.kind === "unreached") budget.refund();
    // The gateway stops: that is no failure.
    if (signal.aborted && ending.kind !== "token") return 0;
    return settle(ending, beganAtMs);
  }

  return {
    token: () => usable()?.jwt ?? null,
    async authorized(signal) {
      for (let now = usable(); ; now = usable()) {
        if (now !== null) return now.jwt;
        if (signal.aborted) return null;
        await endings.next(signal);
      }
    },
    async replace(refused, signal) {
      const other = usable();
      if (other !== null && other.jwt !== refused) return other.jwt;
      refusals.note();
      const nowMs = clock.monotonicMs();
      if (signal.aborted || token === null || nowMs - token.obtainedAtMs < YOUNGEST_REPLACED_MS) return null;
      // After a failure a retry is due already, at a distance that spares the authentication server.
      if (record.failuresInARow > 0 || budget.left(nowMs) <= KEPT_BACK) return null;
      refusals.report();
      rejected = refused;
      const ending = endings.next(signal);
      pause.end();
      await ending;
      const found = usable();
      // After a failed exchange the refused token is used again, so it is no other.
      return found === null || found.jwt === refused ? null : found.jwt;
    },
    state: () => stateOf(token, usable(), record, clock.monotonicMs()),
    async run(signal) {
      if (parts.history !== null) {
        const earlier = await noLaterThan(clock, DISK_WAIT_MS, parts.history.load(), []);
        for (const atMs of earlier) budget.spend(atMs);
      }
      while (!signal.aborted) {
        const waitMs = budget.waitMs(clock.monotonicMs());
        if (waitMs > 0) {
          if (usable() === null) record.rateIsUsedUp();
          record.waitsUntil(clock.nowMs() + waitMs);
          await pause.wait(waitMs, signal);
          continue;
        }
        record.waitsUntil(null);
        const delayMs = await exchange(signal);
        endings.report();
        await pause.wait(delayMs, signal);
      }
      endings.report();
    },
  };
}

function stateOf(
  token: Token | null,
  inUse: Token | null,
  record: ExchangeRecord,
  nowMs: number,
): SessionState {
  return {
    problem: inUse === null ? record.problem() : null,
    renewalProblem: inUse === null ? null : record.renewalProblem(inUse),
    isRefused: record.isRefused,
    tokenAgeSeconds: token === null ? null : Math.round((nowMs - token.obtainedAtMs) / 1000),
    tokenSecondsLeft: token === null ? null : Math.round((token.expiresAtMs - nowMs) / 1000),
    exchanges: record.exchanges,
    failures: record.failures,
  };
}

/** Waits for the ends of exchanges. */
function createEndings() {
  const waiters = new Set<() => void>();
  return {
    /** Resolves at the next end of an exchange, or when the signal is aborted. */
    next(signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        let unlisten = () => {};
        const done = () => {
          waiters.delete(done);
          unlisten();
          resolve();
        };
        waiters.add(done);
        unlisten = onAbort(signal, done);
      });
    },
    report(): void {
      for (const waiter of [...waiters]) waiter();
    },
  };
}

/** A wait that can be ended early. One at a time. */
function createPause(clock: Clock) {
  let end: () => void = () => {};
  return {
    /** Waits until the time has passed, `end` is called or the signal is aborted. */
    wait(delayMs: number, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const cancel = clock.after(delayMs, () => end());
        end = () => {
          end = () => {};
          cancel();
          unlisten();
          resolve();
        };
        const unlisten = onAbort(signal, () => end());
      });
    },
    end: () => end(),
  };
}

/** Logs that the service refuses tokens: once, until none was refused for a minute. */
function createRefusalLog(clock: Clock, log: Log) {
  let isReported = false;
  let lastAtMs = 0;
  return {
    note(): void {
      const nowMs = clock.monotonicMs();
      if (nowMs - lastAtMs > REFUSED_RETRY_MS) isReported = false;
      lastAtMs = nowMs;
    },
    report(): void {
      if (!isReported) log.warn({}, "the service refuses the token: asking for another");
      isReported = true;
    },
  };
}

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
 * A token is renewed at 15 to 20 minutes (docs/internals/service.md, How deployed services behave):
 * `tokenRefreshMs`, or up to a third later.
 */
const REFRESH_JITTER = 1 / 3;
const FIRST_RETRY_MS = 1_000;
/** Attempts at this distance always stay within the documented rate. */
const LONGEST_RETRY_MS = 20_000;
/** Between attempts with a refused key. */
const REFUSED_RETRY_MS = 60_000;
const LIMITED_RETRY_MS = 60_000;
/**
 * A longer Retry-After does not count: this is the window of the documented rate, after which the server must
 * answer.
 */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

function createRetryPlan(times: FleetTimes, random: RandomSource): RetryPlan {
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
