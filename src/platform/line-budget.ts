import type { Clock } from "./clock.ts";

/** Bounds log lines that unauthorized clients can cause at will, so that they cannot fill a disk. */
export interface LineBudget {
  /** Whether there is room for one more line. Counts a line without room. */
  take(): boolean;
}

export interface LineBounds {
  readonly most: number;
  readonly windowMs: number;
}

/** @param onLeftOut is called at the end of a window, with the number of lines that were left out */
export function createLineBudget(
  clock: Pick<Clock, "after">,
  { most, windowMs }: LineBounds,
  onLeftOut: (count: number) => void,
): LineBudget {
  let isOpen = false;
  let taken = 0;
  let leftOut = 0;

  function end(): void {
    const count = leftOut;
    [isOpen, taken, leftOut] = [false, 0, 0];
    if (count > 0) onLeftOut(count);
  }

  return {
    take() {
      if (!isOpen) clock.after(windowMs, end);
      isOpen = true;
      if (taken < most) {
        taken += 1;
        return true;
      }
      leftOut += 1;
      return false;
    },
  };
}
