import { elapsedMs, type Moment } from "./time-text.ts";

/** After this long without a tick, nothing that is shown is known any more. */
const TICK_MS = 3_000;
/** A tick that was delayed for longer says nothing about the present. */
const MOST_DELAY_MS = 1_500;

/** An element whose `data-tick` selects the animation. */
export interface Marked {
  readonly dataset: Record<string, string | undefined>;
}

/** Shows whether the gateway's ticks come in time. */
export interface Liveness {
  /** Notes a tick, and how long it was delayed. */
  tick(delayMs: number): void;
  /** Nothing is known from now on, until the next tick. */
  lose(): void;
  /** Reads the clocks; returns whether ticks come in time. */
  isLive(): boolean;
}

/**
 * Each tick restarts the CSS animation that greys the values. The browser runs it independently of the
 * script, so that it ends even if the script hangs. Two equal animations take turns, because another name
 * restarts it.
 */
export function createLiveness(root: Marked, now: () => Moment): Liveness {
  let tickedAt: Moment | null = null;
  const lose = () => {
    tickedAt = null;
    root.dataset.tick = "none";
  };
  lose();
  return {
    tick(delayMs) {
      if (delayMs > MOST_DELAY_MS) return;
      tickedAt = now();
      root.dataset.tick = root.dataset.tick === "odd" ? "even" : "odd";
    },
    lose,
    isLive() {
      // After a sleep of the machine, the animation continues where it was.
      if (tickedAt !== null && elapsedMs(tickedAt, now()) >= TICK_MS) lose();
      return tickedAt !== null;
    },
  };
}

/**
 * How long messages were delayed on their way, by a script that hung or by the network. Ticks come a second
 * apart, so a tick that is later than the fastest one of the last minute was delayed by the difference.
 * Differences of each clock are compared, never the clocks (docs/internals/decisions.md, A tick that was kept
 * back is no sign of life).
 */
export interface Backlog {
  /** Notes a tick, and returns how long it was delayed. */
  note(sentMs: number, receivedMs: number): number;
  /** The delay of the last tick. */
  delayMs(): number;
  /** Another stream begins: its ticks are not compared with earlier ones. */
  reset(): void;
}

/** A minute of ticks: in that time two clocks drift apart by only a few milliseconds. */
const TICKS = 60;

export function createBacklog(): Backlog {
  let offsets: number[] = [];
  let delayMs = 0;
  return {
    note(sentMs, receivedMs) {
      const offset = receivedMs - sentMs;
      offsets = [...offsets.slice(1 - TICKS), offset];
      delayMs = offset - Math.min(...offsets);
      return delayMs;
    },
    delayMs: () => delayMs,
    reset() {
      offsets = [];
      delayMs = 0;
    },
  };
}
