import type { Answer } from "../api.ts";
import { elapsedMs, type Moment } from "../trust/moment.ts";

/** The newest answer of what is asked for again and again. */
export interface Polled<T> {
  /** Null: none has come yet. */
  readonly value: T | null;
  /** When the newest answer was asked for: what it says was true then, or later. */
  readonly askedAt: Moment | null;
  /** Why the last try has failed; empty: it has not. */
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

/** Between an answer and the next question. */
export const POLL_MS = 2_000;
/** What takes the gateway long is asked for less often, up to this wait. */
const PARTS = 10;
const LONGEST_MS = 5_000;
/** Before the first question: somebody types, and each letter asks for something else. */
export const SETTLE_MS = 150;

/** Asks until the signal aborts, and not while the page is hidden. */
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
