/** Counts pieces of work by the turns of the event loop in which they are done. */
export interface TurnCounts extends Disposable {
  /** One more was done now. */
  note(): void;
  /** How many were done in each turn with any. */
  readonly counts: readonly number[];
}

export function countByTurn(): TurnCounts {
  const counts: number[] = [];
  let isInTurn = false;
  let next: NodeJS.Immediate | null = null;
  return {
    note() {
      if (!isInTurn) {
        isInTurn = true;
        counts.push(0);
        next = setImmediate(() => (isInTurn = false));
      }
      counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1;
    },
    counts,
    [Symbol.dispose]() {
      if (next !== null) clearImmediate(next);
    },
  };
}

/** A value of a record whose JSON takes a millisecond each time that it is written. */
export function slowJson(counts: Pick<TurnCounts, "note">): object {
  return {
    toJSON() {
      counts.note();
      for (const untilMs = performance.now() + 1; performance.now() < untilMs; );
      return "slow";
    },
  };
}
