import type { Connection } from "../../contracts/link.ts";
import type { Clock } from "../../platform/clock.ts";

/** How long an earlier broker must have been reachable: longer after each return that did not last. */
export interface ReturnWait {
  neededMs(): number;
  /** The gateway has returned, with this connection. */
  returned(connection: Connection): void;
  /** The broker did not accept the gateway again. */
  failed(): void;
}

const LONGEST_MS = 3_600_000;

export function createReturnWait(returnMs: number, clock: Clock): ReturnWait {
  let failures = 0;
  const neededMs = () => Math.min(returnMs * 2 ** failures, Math.max(returnMs, LONGEST_MS));
  return {
    neededMs,
    returned(connection) {
      const sinceMs = clock.monotonicMs();
      const enoughMs = neededMs();
      void connection.lost.then(() => {
        failures = clock.monotonicMs() - sinceMs < enoughMs ? failures + 1 : 0;
      });
    },
    failed() {
      failures += 1;
    },
  };
}
