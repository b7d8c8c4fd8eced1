import type { Cancel, Clock } from "../../../platform/clock.ts";

/** Chunks of unfinished requests of all connections together, which node-opcua keeps in memory. */
export interface UnfinishedRequests {
  /** For a connection; `close` is called at most once, if it must be closed. */
  open(close: (why: string) => void): UnfinishedOfConnection;
}

/** The unfinished request of one connection. */
export interface UnfinishedOfConnection {
  /** It has this many bytes now; 0: the request has ended. */
  holds(bytes: number): void;
  /** The connection is gone. */
  end(): void;
}

/** Of all connections together: four of the largest requests. */
const LIMIT_BYTES = 32 * 1024 * 1024;
/** A request that takes longer belongs to a client that stopped in its middle. */
const LIMIT_MS = 30_000;

interface Holder {
  bytes: number;
  cancel: Cancel;
  readonly close: (why: string) => void;
}

/**
 * Bounds them: beyond 32 MiB the connection with the most is closed, so that senders of small requests are
 * not affected; and each that has not ended its request after 30 s.
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
