import type { Clock } from "../clock.ts";
import { noLaterThan } from "../no-later-than.ts";

/**
 * lmdb gives the cause in the same turn, or never: it may report the error before it makes the promise with
 * the cause.
 */
const GIVEN_WITHIN_MS = 1_000;

/**
 * Why lmdb has refused a commit. lmdb hides the disk's error in a promise of its own, which may stay pending.
 */
export async function commitCause(reason: unknown, clock: Pick<Clock, "after">): Promise<unknown> {
  if (!(reason instanceof Error) || !("commitError" in reason)) return reason;
  try {
    await noLaterThan(clock, GIVEN_WITHIN_MS, Promise.resolve(reason.commitError), null);
    return reason;
  } catch (cause) {
    return cause;
  }
}
