import { judgingMs, wrongClock } from "../platform/clock-watch.ts";
import { readBuild } from "../version.ts";

/** Why this machine's clock is wrong; null: it may be right. */
export function wrongClockHere(): string | null {
  return wrongClock(Date.now(), readBuild().builtAt);
}

/** The time by which certificates are judged on this machine. */
export function judgingHereMs(): number {
  return judgingMs(Date.now(), readBuild().builtAt);
}
