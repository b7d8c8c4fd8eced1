/** How fast simulated time passes from a moment on. */
export interface Pace {
  /** A moment of the machine's clock, in milliseconds since 1970. */
  readonly atMs: number;
  /** What the simulated clock shows then. */
  readonly simulatedMs: number;
  /** Simulated seconds in a real one. */
  readonly factor: number;
}

/** The pace of the machine itself. */
export const realPace: Pace = { atMs: 0, simulatedMs: 0, factor: 1 };

/** What the machine's clock shows, in fractions of a millisecond; the same in all processes. */
export function realNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** What the simulated clock shows at a moment of the machine's. */
export function simulatedAt({ atMs, simulatedMs, factor }: Pace, realMs: number): number {
  return simulatedMs + (realMs - atMs) * factor;
}

/** At which moment of the machine's clock the simulated one shows this. */
export function realAt({ atMs, simulatedMs, factor }: Pace, shownMs: number): number {
  return atMs + (shownMs - simulatedMs) / factor;
}

/** The pace that goes on from another at a moment of the machine's clock. */
export function paceFrom(before: Pace, realMs: number, factor: number): Pace {
  return { atMs: realMs, simulatedMs: simulatedAt(before, realMs), factor };
}
