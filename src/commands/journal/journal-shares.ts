import type { Source } from "../../domain/command.ts";

/** What the shares must know of a record. */
export interface SharedRecord {
  readonly sentAtMs: number | null;
  readonly command: { readonly source: Source };
}

/**
 * Shares the journal among sources: to which source each finished command belongs. If there are too many,
 * commands that were never sent are dropped first, then the oldest of the source with the most. So a client
 * that sends without end does not make the gateway forget the commands of another one.
 */
export interface JournalShares {
  add(record: SharedRecord, number: number): void;
  remove(record: SharedRecord, number: number): void;
  /** Removes a number whose record cannot be read: that record is never dropped. */
  forget(number: number): void;
  /** The numbers of each source, in the order of their ends. */
  lists(): Iterable<Iterable<number>>;
  /** Numbers of finished commands in all. */
  size(): number;
  /**
   * The numbers to drop next, oldest first, at most `most`: of commands that were never sent while there are
   * any. All belong to the source with the most, which keeps at least as many as the next source; but at
   * least one is dropped.
   */
  next(most: number): readonly number[];
}

/** By source, oldest first. */
type Numbers = Map<string, Set<number>>;

export function createJournalShares(): JournalShares {
  const unsent: Numbers = new Map();
  const sent: Numbers = new Map();
  const numbersOf = ({ sentAtMs }: SharedRecord) => (sentAtMs === null ? unsent : sent);
  let size = 0;

  function take(bySource: Numbers, key: string, number: number): void {
    const numbers = bySource.get(key);
    if (numbers?.delete(number) !== true) return;
    size -= 1;
    if (numbers.size === 0) bySource.delete(key);
  }

  return {
    add(record, number) {
      const bySource = numbersOf(record);
      const key = sourceKey(record.command.source);
      const numbers = bySource.get(key) ?? new Set();
      bySource.set(key, numbers.add(number));
      size += 1;
    },
    remove: (record, number) => take(numbersOf(record), sourceKey(record.command.source), number),
    forget(number) {
      for (const bySource of [unsent, sent]) {
        for (const key of bySource.keys()) take(bySource, key, number);
      }
    },
    lists: () => [...unsent.values(), ...sent.values()],
    size: () => size,
    next: (most) => ofLargest(unsent.size > 0 ? unsent : sent, most),
  };
}

function ofLargest(bySource: Numbers, most: number): readonly number[] {
  let largest: ReadonlySet<number> = new Set();
  let second = 0;
  for (const numbers of bySource.values()) {
    if (numbers.size > largest.size) {
      second = largest.size;
      largest = numbers;
    } else second = Math.max(second, numbers.size);
  }
  return firstOf(largest, Math.min(most, Math.max(1, largest.size - second)));
}

function firstOf(numbers: Iterable<number>, most: number): readonly number[] {
  const first: number[] = [];
  for (const number of numbers) {
    if (first.length >= most) break;
    first.push(number);
  }
  return first;
}

export function sourceKey({ protocol, name }: Source): string {
  return `${protocol}:${name}`;
}
