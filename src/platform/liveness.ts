import type { Clock } from "./clock.ts";
import type { Component } from "./component.ts";

/** A component that no longer does its job although the event loop runs, and that a restart would mend. */
export interface Hang {
  readonly part: string;
  /** One sentence for a person, without secrets. */
  readonly reason: string;
}

/**
 * The first stalled component; null: none is (docs/internals/decisions.md, A part hangs only if a restart
 * mends it).
 */
export function firstHang(parts: Iterable<Pick<Component, "name" | "hang">>): Hang | null {
  for (const part of parts) {
    const reason = part.hang?.() ?? null;
    if (reason !== null) return { part: part.name, reason };
  }
  return null;
}

/** A watchdog of periodic work. */
export interface Watchdog {
  touch(): void;
  /** No further sign of life is expected. */
  end(): void;
  /**
   * Why the work counts as stalled; null: the last sign of life is recent, there was none yet, or the work
   * has ended.
   */
  hang(): string | null;
}

/** @param limitMs without a sign of life for this long, the work is stalled */
export function createWatchdog(limitMs: number, clock: Pick<Clock, "monotonicMs">): Watchdog {
  let touchedAtMs: number | null = null;
  return {
    touch() {
      touchedAtMs = clock.monotonicMs();
    },
    end() {
      touchedAtMs = null;
    },
    hang() {
      const silentMs = touchedAtMs === null ? 0 : clock.monotonicMs() - touchedAtMs;
      return silentMs <= limitMs ? null : `it has done nothing for ${Math.round(silentMs / 1_000)} s`;
    },
  };
}

/** The fault of a listener that accepts no connections although nobody has closed it in order. */
export function closedPort(listener: { readonly listening: boolean } | null): string | null {
  return listener === null || listener.listening ? null : "it does not listen any more";
}

/** Whether a daemon serves, for a load balancer or a script that starts it. */
export interface Readiness {
  /** Why it does not serve, as one sentence; null: it does. */
  problem(): string | null;
  /** Aborted when it accepts nothing new. */
  readonly stopping: AbortSignal;
  /** Each of its listeners listens, or was tried once. */
  opened(): void;
  /** It accepts nothing new from now on. */
  closing(): void;
}

export function createReadiness(): Readiness {
  const stopping = new AbortController();
  let problem: string | null = "it starts: not all of its parts are ready";
  return {
    problem: () => problem,
    stopping: stopping.signal,
    opened() {
      problem = null;
    },
    closing() {
      problem = "it stops";
      stopping.abort();
    },
  };
}
