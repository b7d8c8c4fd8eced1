import { type Clock, every } from "./clock.ts";
import type { Health } from "./component.ts";
import type { Log } from "./log.ts";

/** Tells whether the wall clock was set, and whether it is before the program's build. */
export interface ClockWatch {
  health(): Health;
}

export type WrongClock = (nowMs: number) => string | null;

const LOOK_MS = 1_000;
/** Between two looks, time services correct less than this without a step. */
const STEP_MS = 500;
/** The health names the last step for this long. */
const SHOWN_MS = 3_600_000;
const GOES_ON = "ages, timeouts and the quality of values do not depend on it";

/**
 * Watches until the signal is aborted, and logs each step of the wall clock. A step is no fault: most steps
 * set a clock right. Whether the clock is right is the question of CLOCK_SKEW.
 *
 * @param wrong returns why a time is wrong; null: it may be right
 */
export function watchClock(
  { clock, log, wrong }: { readonly clock: Clock; readonly log: Log; readonly wrong: WrongClock },
  signal: AbortSignal,
): ClockWatch {
  const offset = () => clock.nowMs() - clock.monotonicMs();
  let offsetMs = offset();
  let steps = 0;
  let last: { readonly text: string; readonly atMs: number } | null = null;

  let problem: string | null = null;

  function look(): void {
    const found = wrong(clock.nowMs());
    if (found !== null && problem === null) log.warn({}, found);
    if (found === null && problem !== null) log.info({}, "the wall clock may be right now");
    problem = found;
  }

  look();
  every(clock, LOOK_MS, signal, () => {
    look();
    const stepMs = offset() - offsetMs;
    offsetMs += stepMs;
    if (Math.abs(stepMs) < STEP_MS) return;
    steps += 1;
    const cause = stepMs > 0 ? "set forward, or the machine slept," : "set back";
    const text = `the wall clock was ${cause} by ${(Math.abs(stepMs) / 1_000).toFixed(1)} s`;
    last = { text, atMs: clock.monotonicMs() };
    log.warn({ stepMs: Math.round(stepMs) }, `${text}: ${GOES_ON}`);
  });

  return {
    health() {
      const figures = { steps };
      if (problem !== null) return { state: "degraded", detail: problem, figures };
      const isShown = last !== null && clock.monotonicMs() - last.atMs < SHOWN_MS;
      return isShown && last !== null
        ? { state: "up", detail: last.text, figures }
        : { state: "up", figures };
    },
  };
}

/**
 * The wall clock, and the time that it would show if nobody had set it since it was last known to be right.
 */
export interface SteadyWall {
  /**
   * The later of the two, in milliseconds since 1970: with a clock that is set back, no moment comes twice.
   */
  latestMs(): number;
  /** The right time is known: it is so far ahead of the wall clock; 0: the clock is right. */
  confirm(aheadMs: number): void;
}

export function createSteadyWall(clock: Pick<Clock, "nowMs" | "monotonicMs">): SteadyWall {
  let anchorMs = clock.nowMs() - clock.monotonicMs();
  return {
    latestMs: () => Math.max(clock.nowMs(), anchorMs + clock.monotonicMs()),
    confirm(aheadMs) {
      anchorMs = clock.nowMs() + aheadMs - clock.monotonicMs();
    },
  };
}

const DAY_MS = 86_400_000;

/** Before the build by more than a day, since its machine's clock may be a little ahead. */
export function isBeforeBuild(nowMs: number, builtAtMs: number): boolean {
  return nowMs < builtAtMs - DAY_MS;
}

/** What is wrong with a clock that does not fit the program. It changes once a day. */
export function clockText(nowMs: number, builtAtMs: number): string {
  const [now, date] = [nowMs, builtAtMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
  return `this machine's clock says ${now}, and the program was built on ${date}: set the clock`;
}

/**
 * Why a clock that shows `nowMs` is wrong; null: it may be right.
 *
 * @param built when the program was built; null: not known, and any time may be right
 */
export function wrongClock(nowMs: number, built: Date | null): string | null {
  if (built === null || !isBeforeBuild(nowMs, built.getTime())) return null;
  return `${clockText(nowMs, built.getTime())}, best by NTP; until then no certificate is made or called expired`;
}

/**
 * The time by which certificates are judged: that of the clock. NaN if the clock is wrong: it is neither
 * before nor after anything.
 */
export function judgingMs(nowMs: number, built: Date | null): number {
  return wrongClock(nowMs, built) === null ? nowMs : Number.NaN;
}
