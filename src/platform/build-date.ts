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
