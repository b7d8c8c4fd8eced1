import { dateText, say } from "../texts/texts.ts";

/** Local time of day, with seconds. */
export function timeOfDay(wallMs: number): string {
  const at = new Date(wallMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => `${part}`.padStart(2, "0"))
    .join(":");
}

/** Local date and time, as the user's language has it. */
export function dateAndTime(wallMs: number): string {
  return dateText(wallMs);
}

/** An age for people: the larger it is, the coarser. */
export function ageText(ms: number, days: "age.days" | "age.daysAgo" = "age.days"): string {
  const seconds = Math.floor(Math.max(0, ms) / 1_000);
  if (seconds < 120) return say("age.seconds", { count: seconds });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return say("age.minutes", { count: minutes });
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? say("age.hours", { count: hours }) : say(days, { count: Math.floor(hours / 24) });
}

/** How long ago something was. */
export function agoText(ms: number): string {
  return say("age.ago", { age: ageText(ms, "age.daysAgo") });
}

/**
 * A moment on the two clocks of the browser, in milliseconds. Neither is ever compared with the gateway's
 * clock.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * The time between two moments: the larger of both clocks, because a sleep stops one, and a user may set the
 * other back.
 */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(0, now.monotonicMs - since.monotonicMs, now.wallMs - since.wallMs);
}

/** A time at which something was true, with the age that it had then. */
export interface Dated {
  readonly ageWhenSentMs: number;
  readonly receivedAt: Moment;
}

/** The present age of a value: its age when it was sent, plus the time since it was received. */
export function ageMs({ ageWhenSentMs, receivedAt }: Dated, now: Moment): number {
  return Math.max(0, ageWhenSentMs) + elapsedMs(receivedAt, now);
}

/** Two clocks that run differ by less than this. */
const SET_MS = 1_000;

/** The time of the browser's wall clock at which a value was true: the same one until a clock is set. */
export function wallTimeMs({ ageWhenSentMs, receivedAt }: Dated, now: Moment): number {
  const heardMs = now.wallMs - elapsedMs(receivedAt, now);
  const isSet = Math.abs(heardMs - receivedAt.wallMs) > SET_MS;
  return (isSet ? heardMs : receivedAt.wallMs) - Math.max(0, ageWhenSentMs);
}

/** The same moment, told again, keeps its earlier record: then its time does not jitter. */
export function steady(before: Dated | null, dated: Dated, now: Moment, withinMs: number): Dated {
  if (before === null) return dated;
  return Math.abs(ageMs(before, now) - ageMs(dated, now)) < withinMs ? before : dated;
}
