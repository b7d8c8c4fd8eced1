/** How long something has not been good. */
export interface Age {
  note(isGood: boolean, nowMs: number): void;
  /** Seconds since it was last good, or since the beginning. 0 while it is good. */
  seconds(nowMs: number): number;
}

/** Begins as not good. */
export function createAge(nowMs: number): Age {
  let lastGoodMs = nowMs;
  let wasGood = false;
  return {
    note(isGood, atMs) {
      if (wasGood) lastGoodMs = atMs;
      wasGood = isGood;
    },
    seconds: (atMs) => (wasGood ? 0 : Math.max(0, Math.floor((atMs - lastGoodMs) / 1_000))),
  };
}
