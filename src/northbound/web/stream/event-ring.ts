/** The newest events as they were sent, each with a number, for readers that connect again. */
export interface EventRing {
  push(text: string): void;
  /** The number of the oldest event that is kept, and of the next one. */
  first(): number;
  next(): number;
  /** Undefined: it is not kept. */
  at(number: number): string | undefined;
  idOf(number: number): string;
  /** Where a client that has seen this event last goes on. */
  resume(lastEventId: string | null): Resumed;
}

export interface Resumed {
  /** The first event to send. */
  readonly from: number;
  /** How many events are missing before that one; null: not known. */
  readonly missing: number | null;
}

/** @param sessionId identifies the run: another run numbers from 1 again */
export function createEventRing(sessionId: string, most: number): EventRing {
  const texts = new Map<number, string>();
  let first = 1;
  let next = 1;

  function resume(lastEventId: string | null): Resumed {
    if (lastEventId === null) return { from: next, missing: 0 };
    const at = lastEventId.lastIndexOf(".");
    const number = Number(lastEventId.slice(at + 1));
    const isOurs = lastEventId.slice(0, at) === sessionId && Number.isInteger(number) && number < next;
    if (!isOurs) return { from: first, missing: null };
    const from = Math.max(number + 1, first);
    return { from, missing: from - number - 1 };
  }

  return {
    push(text) {
      texts.set(next, text);
      next += 1;
      if (texts.size <= most) return;
      texts.delete(first);
      first += 1;
    },
    first: () => first,
    next: () => next,
    at: (number) => texts.get(number),
    idOf: (number) => `${sessionId}.${number}`,
    resume,
  };
}
