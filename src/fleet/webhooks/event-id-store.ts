import type { Cancel, Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import type { StoreFormat } from "../../platform/stores/store-marks.ts";

/** A new version needs the step from the old one in platform/stores/kept-store.ts. */
export const eventsFormat: StoreFormat = { store: "webhook events", version: 2 };

/** The ids of received events, over restarts too: a service may deliver an event more than once. */
export interface EventIdStore {
  /** Whether this event is new. From now on it is not. */
  take(eventId: string): boolean;
  /** Writes the rest, and closes the store. */
  close(): Promise<void>;
}

export interface EventIdStoreOptions {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Of events. */
  readonly limit?: number;
}

/** More than come while a service repeats a delivery. */
const MOST_EVENTS = 20_000;
const KEY_DIGITS = 5;
/** A commit for each event would wear out a flash disk. */
const WRITE_WITHIN_MS = 10_000;

/**
 * Keeps the last events in a ring of records, so that the disk holds no more than the memory. The disk is
 * written later: a crash loses the last few, and the sequence rules drop them when they are delivered again.
 * Events are accepted while the disk fails.
 */
export function createEventIdStore(
  store: Store,
  { clock, log, limit = MOST_EVENTS }: EventIdStoreOptions,
): EventIdStore {
  const ring = new Array<string | undefined>(limit);
  const known = new Set<string>();
  let next = 0;
  let isFailing = false;
  let waiting = new Map<string, StoreChange>();
  let cancelWrite: Cancel | null = null;

  for (const { key, value } of store.range({ from: "0", to: ":" })) {
    const [count, eventId] = value as readonly [number, string];
    const index = Number(key);
    // The ring was larger in an earlier run; records beyond its size are old.
    if (index >= limit) continue;
    ring[index] = eventId;
    known.add(eventId);
    next = Math.max(next, count + 1);
  }

  function keep(change: StoreChange): void {
    waiting.set(change.key, change);
    cancelWrite ??= clock.after(WRITE_WITHIN_MS, () => void write());
  }

  async function write(): Promise<void> {
    cancelWrite?.();
    cancelWrite = null;
    const changes = [...waiting.values()];
    waiting = new Map();
    if (changes.length === 0) return;
    try {
      await store.write(changes);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error({ err: error }, "webhook events are not remembered over a restart");
      isFailing = true;
    }
  }

  return {
    take(eventId) {
      if (known.has(eventId)) return false;
      const index = next % limit;
      const oldest = ring[index];
      if (oldest !== undefined) known.delete(oldest);
      ring[index] = eventId;
      known.add(eventId);
      keep({ key: String(index).padStart(KEY_DIGITS, "0"), value: [next, eventId] });
      next += 1;
      return true;
    },
    async close() {
      await write();
      await store.close();
    },
  };
}
