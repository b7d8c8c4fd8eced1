/**
 * How long messages have been kept back on their way: by a script that hung, or by the network. Ticks come a
 * second apart, so one that comes later than the quickest of the last minute was kept back for the
 * difference. Differences of each clock are compared, never the clocks.
 */
export interface Backlog {
  /** Notes a tick, and gives for how long it was kept back. */
  note(sentMs: number, heardMs: number): number;
  /** As the last tick showed it. */
  delayMs(): number;
  /** Another stream begins: its ticks are not compared with those before. */
  reset(): void;
}

/** A minute of ticks: in it two clocks drift apart by a few milliseconds only. */
const TICKS = 60;

export function createBacklog(): Backlog {
  let offsets: number[] = [];
  let delayMs = 0;
  return {
    note(sentMs, heardMs) {
      const offset = heardMs - sentMs;
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
