import { readFileSync } from "node:fs";

/** Watches how long the event loop is held up. */
export interface LoopProbe {
  /** The longest that anything held it since the last question, in milliseconds of the processor's time. */
  longestMs(): number;
  stop(): void;
}

const BETWEEN_MS = 1;

/**
 * Looks at the loop every millisecond. On a loaded machine a look comes late without anybody's fault here: so
 * a gap counts as no more than what the processor spent on it meanwhile: on this thread where Linux says so,
 * else on the process, whose collector has threads of its own.
 */
export function watchLoop(): LoopProbe {
  let longestMs = 0;
  let atMs = performance.now();
  let spentMs = processorMs();
  const look = () => {
    const now = performance.now();
    const nowSpentMs = processorMs();
    longestMs = Math.max(longestMs, Math.min(now - atMs, nowSpentMs - spentMs));
    atMs = now;
    spentMs = nowSpentMs;
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

/** What the processor has spent on the main thread, in milliseconds. */
function processorMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    // Another system than Linux.
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}
