import type { Cancel, Clock } from "../../../platform/clock.ts";

/**
 * Chunks of requests that have not ended, of all connections together: what node-opcua keeps of them in
 * memory.
 */
export interface UnfinishedRequests {
  /** For a connection; `close` is called once at most, when it must go. */
  open(close: (why: string) => void): UnfinishedOfConnection;
}

/** What one connection has sent of a request that has not ended. */
export interface UnfinishedOfConnection {
  /** So many bytes now; 0 when the request has ended. */
  holds(bytes: number): void;
  /** The connection is gone. */
  end(): void;
}

/** Of all connections together: four of the largest requests. */
const LIMIT_BYTES = 32 * 1024 * 1024;
/** A request that takes longer than this has a client that stopped in its midst. */
const LIMIT_MS = 30_000;

interface Holder {
  bytes: number;
  cancel: Cancel;
  readonly close: (why: string) => void;
}

/**
 * Bounds them: beyond 32 MiB the connection that holds most is closed, so that those who send small requests
 * pay nothing for it; and each that has not ended its request after 30 s.
 */
export function createUnfinishedRequests(clock: Clock, limitBytes = LIMIT_BYTES): UnfinishedRequests {
  const holders = new Set<Holder>();
  let total = 0;

  function forget(holder: Holder): void {
    if (!holders.delete(holder)) return;
    total -= holder.bytes;
    holder.bytes = 0;
    holder.cancel();
  }

  function drop(holder: Holder, why: string): void {
    forget(holder);
    holder.close(why);
  }

  return {
    open(close) {
      const holder: Holder = { bytes: 0, cancel: () => {}, close };
      return {
        holds(bytes) {
          if (bytes === 0) {
            forget(holder);
            return;
          }
          if (!holders.has(holder)) {
            holders.add(holder);
            holder.cancel = clock.after(LIMIT_MS, () =>
              drop(holder, `a request has not ended after ${LIMIT_MS} ms`),
            );
          }
          total += bytes - holder.bytes;
          holder.bytes = bytes;
          while (total > limitBytes) {
            const largest = [...holders].reduce((a, b) => (b.bytes > a.bytes ? b : a));
            drop(
              largest,
              `${largest.bytes} bytes of an unfinished request, with those of others more than ${limitBytes}`,
            );
          }
        },
        end: () => forget(holder),
      };
    },
  };
}
