import type { Answer } from "../api.ts";
import { elapsedMs, type Moment } from "../trust/moment.ts";

/** The newest answer of a poll. */
export interface Polled<T> {
  /** Null: none has come yet. */
  readonly value: T | null;
  /** When the newest answer was requested: it was true then, or later. */
  readonly askedAt: Moment | null;
  /** Why the last request failed; empty: it did not. */
  readonly problem: string;
}

export const nothingPolled: Polled<never> = { value: null, askedAt: null, problem: "" };

export interface PollParts<T> {
  readonly ask: (signal: AbortSignal) => Promise<Answer<T>>;
  readonly onAnswer: (change: (before: Polled<T>) => Polled<T>) => void;
  readonly isHidden: () => boolean;
  /** Resolves when the page is hidden or shown, or when the signal aborts. */
  readonly visibilityChange: (signal: AbortSignal) => Promise<void>;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => Moment;
}

/** Between an answer and the next request. */
export const POLL_MS = 2_000;
/** If the gateway takes long, the wait is this many times as long, up to a limit. */
const PARTS = 10;
const LONGEST_MS = 5_000;
/** Before the first request: a user may be typing, and each letter changes the request. */
export const SETTLE_MS = 150;

/** Polls until the signal aborts, and not while the page is hidden. */
export async function poll<T>(parts: PollParts<T>, signal: AbortSignal): Promise<void> {
  await parts.sleep(SETTLE_MS, signal);
  while (!signal.aborted) {
    if (parts.isHidden()) {
      await parts.visibilityChange(signal);
      continue;
    }
    const askedAt = parts.now();
    const answer = await parts.ask(signal);
    if (signal.aborted) return;
    parts.onAnswer((before) =>
      "value" in answer
        ? { value: answer.value, askedAt, problem: "" }
        : { ...before, problem: answer.problem },
    );
    const tookMs = elapsedMs(askedAt, parts.now());
    await parts.sleep(Math.min(LONGEST_MS, Math.max(POLL_MS, PARTS * tookMs)), signal);
  }
}
