/**
 * How long messages were delayed on their way, by a script that hung or by the network. Ticks come a second
 * apart, so a tick that is later than the fastest one of the last minute was delayed by the difference.
 * Differences of each clock are compared, never the clocks (docs/decisions.md, A tick that was kept back is
 * no sign of life).
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
