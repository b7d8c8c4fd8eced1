import type { Stamp } from "../../../domain/observed.ts";
import type { Clock } from "../../../platform/clock.ts";

/** The ages of values. Setting the wall clock makes none younger or older. */
export interface Ages {
  /** The value with this stamp is known from now on. */
  note(stamp: Stamp): void;
  /** Milliseconds since it was received. */
  of(stamp: Stamp): number;
}

export function createAges(clock: Pick<Clock, "nowMs" | "monotonicMs">): Ages {
  const receivedAt = new WeakMap<Stamp, number>();

  function note(stamp: Stamp): number {
    const known = receivedAt.get(stamp);
    if (known !== undefined) return known;
    const atMs = clock.monotonicMs() - Math.max(0, clock.nowMs() - stamp.receivedAtMs);
    receivedAt.set(stamp, atMs);
    return atMs;
  }

  return {
    note: (stamp) => void note(stamp),
    of: (stamp) => Math.max(0, Math.round(clock.monotonicMs() - note(stamp))),
  };
}
