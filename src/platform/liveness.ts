import type { Clock } from "./clock.ts";
import type { Component } from "./component.ts";

/** A part that does its job no more although the event loop turns, and that a restart would mend. */
export interface Hang {
  readonly part: string;
  /** One sentence for a person, without secrets. */
  readonly reason: string;
}

/** The first hang of these parts; null while all that can answer do (decisions.md, Start, stop and time). */
export function firstHang(parts: Iterable<Pick<Component, "name" | "hang">>): Hang | null {
  for (const part of parts) {
    const reason = part.hang?.() ?? null;
    if (reason !== null) return { part: part.name, reason };
  }
  return null;
}

/** Whether periodic work goes on. */
export interface Pulse {
  beat(): void;
  /** No further beat is expected. */
  end(): void;
  /** Why it counts as a hang; null while the last beat is recent, before the first one and after the end. */
  hang(): string | null;
}

/** @param limitMs without a beat for so long, the work hangs */
export function createPulse(limitMs: number, clock: Pick<Clock, "monotonicMs">): Pulse {
  let beatAtMs: number | null = null;
  return {
    beat() {
      beatAtMs = clock.monotonicMs();
    },
    end() {
      beatAtMs = null;
    },
    hang() {
      const silentMs = beatAtMs === null ? 0 : clock.monotonicMs() - beatAtMs;
      return silentMs <= limitMs ? null : `it has done nothing for ${Math.round(silentMs / 1_000)} s`;
    },
  };
}

/** How a listener says that it accepts no connections, although nobody has closed it in order. */
export function closedPort(listener: { readonly listening: boolean } | null): string | null {
  return listener === null || listener.listening ? null : "it does not listen any more";
}
