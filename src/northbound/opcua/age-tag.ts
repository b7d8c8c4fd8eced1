import { StatusCodes } from "node-opcua";
import { createAge } from "../../domain/age.ts";
import { type Tag, timesAt } from "./node-opcua/tag.ts";

/** Lets an age grow; called about once a second. */
export type Age = (nowMs: number) => void;

/**
 * Shows for how many seconds something has not been good; 0 while it is. Only what is not good is in
 * `ageing`: a thousand good robots cost nothing a second. Answers with what is told whether it is good.
 */
export function startAge(tag: Tag, nowMs: () => number, ageing: Set<Age>): (isGood: boolean) => void {
  const known = createAge(nowMs());
  let shownSeconds: number | null = null;

  function age(atMs: number): void {
    const seconds = known.seconds(atMs);
    if (seconds === shownSeconds) return;
    shownSeconds = seconds;
    tag.set(seconds, StatusCodes.Good, timesAt(atMs));
  }

  return (isGood) => {
    known.note(isGood, nowMs());
    age(nowMs());
    if (isGood) ageing.delete(age);
    else ageing.add(age);
  };
}
