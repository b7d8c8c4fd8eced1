/**
 * The documented rate of the token exchange: 20 requests in 5 minutes for one key
 * and address (docs/service.md, ERR-56). Two are left for a person who tries the key by hand.
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
export function createExchangeBudget(): ExchangeBudget {
  const spent: number[] = [];
  const forget = (nowMs: number) => {
    while (spent[0] !== undefined && spent[0] <= nowMs - windowMs) spent.shift();
  };
  return {
    waitMs(nowMs) {
      forget(nowMs);
      const oldest = spent[spent.length - requestsInWindow];
      return oldest === undefined ? 0 : oldest + windowMs - nowMs;
    },
    left(nowMs) {
      forget(nowMs);
      return requestsInWindow - spent.length;
    },
    spend(nowMs) {
      spent.push(nowMs);
    },
    refund: () => void spent.pop(),
    spent: () => spent,
  };
}
