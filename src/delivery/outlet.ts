import type { ShowEvent } from "./event-queue.ts";
import { type Feed, isEmpty, type Slice } from "./feed.ts";

/** The end of a queue, from which one link runner reads. */
export interface Outlet {
  /**
   * The connection is up: changes come from now on, beginning with a snapshot. Events come too, unless
   * `areEventsOpen` is false.
   */
  open(areEventsOpen?: boolean): void;
  /** Events come from now on, or wait. `show` gets each event that begins to wait. */
  setEventsOpen(isOpen: boolean, show: ShowEvent | undefined): void;
  /** The connection is closed: events are kept, changes are not. A waiting `next` resolves with null. */
  close(): void;
  /** Waits for the next turn with something to take; null once the outlet is closed. */
  next(): Promise<Slice | null>;
  /** The slice has arrived. Otherwise its events come again after the next `open`. */
  release(slice: Slice): void;
  /** Its changes have arrived; the next slice has no events before `releaseEvents`. */
  releaseChanges(slice: Slice): void;
  /** So many of its events, from the first on, have arrived. The others come again. */
  releaseEvents(slice: Slice, arrived: number): void;
  /** How many events wait. */
  eventsQueued(): number;
  figures(): Readonly<Record<string, number>>;
}

/**
 * @param schedule asks for a turn of the fan-out
 * @returns the outlet, and the function that the fan-out calls in each turn
 */
export function createOutlet(
  feed: Feed,
  schedule: () => void,
): { readonly outlet: Outlet; readonly turn: () => boolean } {
  let isOpen = false;
  let waiting: ((slice: Slice | null) => void) | null = null;

  function settle(slice: Slice | null): void {
    const resolve = waiting;
    waiting = null;
    resolve?.(slice);
  }

  const outlet: Outlet = {
    open(areEventsOpen = true) {
      feed.setOpen(true);
      if (areEventsOpen) feed.setEventsOpen(true);
      isOpen = true;
    },
    setEventsOpen(areOpen, show) {
      if (!isOpen) return;
      feed.setEventsOpen(areOpen, show);
      schedule();
    },
    close() {
      isOpen = false;
      feed.setOpen(false);
      settle(null);
    },
    next() {
      if (!isOpen) return Promise.resolve(null);
      if (waiting !== null) throw new Error("one reader at a time may wait for an outlet");
      return new Promise((resolve) => {
        waiting = resolve;
        // In a later turn: a link that writes without waiting must not block the event loop.
        if (feed.hasWork()) schedule();
      });
    },
    release: feed.release,
    releaseChanges: feed.releaseChanges,
    releaseEvents(slice, arrived) {
      feed.releaseEvents(slice, arrived);
      schedule();
    },
    eventsQueued: feed.eventsQueued,
    figures: feed.figures,
  };

  return {
    outlet,
    turn() {
      if (waiting === null || !feed.hasWork()) return false;
      const slice = feed.take();
      if (!isEmpty(slice)) settle(slice);
      // The reader asks for its next turn itself, after it has written this slice.
      return false;
    },
  };
}
