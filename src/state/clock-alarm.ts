import type { Log } from "../platform/log.ts";

/** Raises an alarm while the clocks of this machine and the fleet service differ. */
export interface ClockAlarm {
  /** The clock of the service minus that of this machine, in milliseconds. */
  note(skewMs: number): void;
}

const NOTABLE_SKEW_MS = 2_000;
/** Hysteresis: a difference near the limit must not cause an event each second. */
const AGREEING_SKEW_MS = 1_000;

/**
 * @param tell is called at the first look, and with each change, with whether the clocks differ
 * @param confirm is called with how far the right time is ahead of the wall clock: 0 while the two clocks
 * agree. Until they have agreed once, the wall clock may have been set back while the gateway was down: the
 * service's time counts if it is later
 */
export function createClockAlarm(
  log: Log,
  report: (active: boolean, text: string) => void,
  confirm: (aheadMs: number) => void,
): ClockAlarm {
  /** Null: not known yet. */
  let isOn: boolean | null = null;
  let haveAgreed = false;
  return {
    note(skewMs) {
      const distanceMs = Math.abs(skewMs);
      haveAgreed ||= distanceMs <= NOTABLE_SKEW_MS;
      if (distanceMs <= NOTABLE_SKEW_MS) confirm(0);
      else if (!haveAgreed && skewMs > 0) confirm(skewMs);
      const is = distanceMs > (isOn === true ? AGREEING_SKEW_MS : NOTABLE_SKEW_MS);
      if (is === isOn) return;
      const isFirst = isOn === null;
      isOn = is;
      const text = is
        ? `this machine's clock is ${Math.round(distanceMs / 1_000)} s ${skewMs > 0 ? "behind" : "ahead of"} the fleet service's: set it right; until then give commands expires_in_ms, not expires_at`
        : "this machine's clock agrees with the fleet service's again";
      if (is) log.warn({ skewMs }, text);
      else if (!isFirst) log.info({ skewMs }, text);
      report(is, text);
    },
  };
}
