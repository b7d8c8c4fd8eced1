import { StatusCodes } from "node-opcua";
import { createAge } from "../../domain/age.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Tag, timesAt } from "./node-opcua/tag.ts";

/** Updates an age; called about once a second. */
export type Age = () => void;

/**
 * Shows for how many seconds something has not been good; 0 while it is. Setting the wall clock changes no
 * age. Only values that are not good are in `ageing`: a thousand good robots cost nothing each second.
 * Returns a callback; pass it whether the value is good.
 */
export function startAge(
  tag: Tag,
  clock: Pick<Clock, "nowMs" | "monotonicMs">,
  ageing: Set<Age>,
): (isGood: boolean) => void {
  const known = createAge(clock.monotonicMs());
  let shownSeconds: number | null = null;

  function age(): void {
    const seconds = known.seconds(clock.monotonicMs());
    if (seconds === shownSeconds) return;
    shownSeconds = seconds;
    tag.set(seconds, StatusCodes.Good, timesAt(clock.nowMs()));
  }

  return (isGood) => {
    known.note(isGood, clock.monotonicMs());
    age();
    if (isGood) ageing.delete(age);
    else ageing.add(age);
  };
}
