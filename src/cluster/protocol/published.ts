import type { Clock } from "../../platform/clock.ts";
import type { Mirror } from "./mirror.ts";
import { BEAT_KEY, type BeatRecord, decode, LEADER_KEY } from "./records.ts";

/** How far apart an event reaches the members, at most. */
const APART_MS = 60_000;

/**
 * A standby has the same events as the leader, and would publish all of them when it leads. While the leader
 * says that none waits there, those of a minute ago and before have been published. `published` is called
 * with that moment, on the monotonic clock.
 */
export function watchPublished(
  { mirror, clock }: { readonly mirror: Mirror; readonly clock: Pick<Clock, "monotonicMs"> },
  published: (beforeMs: number) => void,
): void {
  /** The leader's time is at least so much behind this clock: the beat that came fastest tells. */
  let behindMs = Number.POSITIVE_INFINITY;
  let epoch = 0;

  mirror.subscribe((key, entry) => {
    // What the store has from before this process watched it may be old.
    if (key !== BEAT_KEY || entry === null || mirror.revision() === 0) return;
    const beat = decode<BeatRecord>(entry, "runMs");
    if (beat === null) return;
    const { runMs, isPublished } = beat;
    const beganAt = mirror.get(LEADER_KEY)?.created ?? 0;
    if (beganAt !== epoch) behindMs = Number.POSITIVE_INFINITY;
    epoch = beganAt;
    behindMs = Math.min(behindMs, clock.monotonicMs() - runMs);
    if (isPublished) published(runMs + behindMs - APART_MS);
  });
}
