/** Watches how long the event loop is held up. */
export interface LoopProbe {
  /** The longest that anything held it since the last question, in milliseconds of the processor's time. */
  longestMs(): number;
  stop(): void;
}

const BETWEEN_MS = 1;

/**
 * Looks at the loop every millisecond. On a loaded machine a look comes late without anybody's fault here: so a gap
 * counts as no more than what the processor spent on this process meanwhile.
 */
export function watchLoop(): LoopProbe {
  let longestMs = 0;
  let atMs = performance.now();
  let spent = process.cpuUsage();
  const look = () => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(spent);
    longestMs = Math.max(longestMs, Math.min(now - atMs, (user + system) / 1_000));
    atMs = now;
    spent = process.cpuUsage();
    timer = setTimeout(look, BETWEEN_MS);
  };
  let timer = setTimeout(look, BETWEEN_MS);
  return {
    longestMs() {
      const longest = longestMs;
      longestMs = 0;
      return longest;
    },
    stop: () => clearTimeout(timer),
  };
}
