import type { Source } from "../../../domain/command.ts";
import type { JournalEntry } from "./journal.ts";

/**
 * Which places of finished commands in the journal are whose. When there are too many, the oldest of whoever has most are dropped: a client that
 * sends without end must not make the gateway forget what another one has sent.
 */
export interface JournalShares {
  add(entry: JournalEntry, place: number): void;
  remove(entry: JournalEntry, place: number): void;
  /** Places of finished commands in all. */
  size(): number;
  /**
   * Oldest first, the places of the source that has most: only so many, of `most`, that it has no fewer than the next
   * one afterwards, but one at least.
   */
  ofLargest(most: number): readonly number[];
}

export function createJournalShares(): JournalShares {
  const bySource = new Map<string, Set<number>>();
  let size = 0;

  return {
    add({ command: { source } }, place) {
      const key = keyOf(source);
      const places = bySource.get(key) ?? new Set();
      bySource.set(key, places.add(place));
      size += 1;
    },
    remove({ command: { source } }, place) {
      const places = bySource.get(keyOf(source));
      if (places?.delete(place) !== true) return;
      size -= 1;
      if (places.size === 0) bySource.delete(keyOf(source));
    },
    size: () => size,
    ofLargest(most) {
      let largest: ReadonlySet<number> = new Set();
      let second = 0;
      for (const places of bySource.values()) {
        if (places.size > largest.size) {
          second = largest.size;
          largest = places;
        } else second = Math.max(second, places.size);
      }
      return firstOf(largest, Math.min(most, Math.max(1, largest.size - second)));
    },
  };
}

function firstOf(places: Iterable<number>, most: number): readonly number[] {
  const first: number[] = [];
  for (const place of places) {
    if (first.length >= most) break;
    first.push(place);
  }
  return first;
}

function keyOf({ door, name }: Source): string {
  return `${door}:${name}`;
}
