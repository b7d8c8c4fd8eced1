import type { Source } from "../../domain/command.ts";
import type { JournalRecord } from "./journal.ts";

/**
 * Which places of finished commands in the journal are whose. When there are too many, those go first that never left, and the
 * oldest of whoever has most: a client that sends without end must not make the gateway forget what another one has sent.
 */
export interface JournalShares {
  add(entry: JournalRecord, place: number): void;
  remove(entry: JournalRecord, place: number): void;
  /** Places of finished commands in all. */
  size(): number;
  /**
   * Oldest first, the places that go next, `most` at most: of what never left as long as there is any, and of the source
   * that has most of it, only so many that it has no fewer than the next one afterwards, but one at least.
   */
  next(most: number): readonly number[];
}

/** By source, oldest first. */
type Places = Map<string, Set<number>>;

export function createJournalShares(): JournalShares {
  const unsent: Places = new Map();
  const sent: Places = new Map();
  const placesOf = ({ sentAtMs }: JournalRecord) => (sentAtMs === null ? unsent : sent);
  let size = 0;

  return {
    add(entry, place) {
      const bySource = placesOf(entry);
      const key = keyOf(entry.command.source);
      const places = bySource.get(key) ?? new Set();
      bySource.set(key, places.add(place));
      size += 1;
    },
    remove(entry, place) {
      const bySource = placesOf(entry);
      const key = keyOf(entry.command.source);
      const places = bySource.get(key);
      if (places?.delete(place) !== true) return;
      size -= 1;
      if (places.size === 0) bySource.delete(key);
    },
    size: () => size,
    next: (most) => ofLargest(unsent.size > 0 ? unsent : sent, most),
  };
}

function ofLargest(bySource: Places, most: number): readonly number[] {
  let largest: ReadonlySet<number> = new Set();
  let second = 0;
  for (const places of bySource.values()) {
    if (places.size > largest.size) {
      second = largest.size;
      largest = places;
    } else second = Math.max(second, places.size);
  }
  return firstOf(largest, Math.min(most, Math.max(1, largest.size - second)));
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
