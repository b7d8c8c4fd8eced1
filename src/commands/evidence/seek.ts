import type { Outcome } from "../../domain/outcome.ts";
import type { Cancel } from "../../platform/clock.ts";
import type { Shared } from "../parts.ts";
import { type OpenWatch, verdict, type Watch, type WatchUse } from "./watch.ts";

type SeekParts = Pick<Shared, "clock" | "options">;

/**
 * What a watch decides about the outcome now; without an outcome, when to look again (null: when it has
 * changed).
 */
type Decision =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  | { readonly kind: "wait"; readonly lookInMs: number | null };

/** Resolves with the outcome that the watch shows, or with `otherwise` if it shows none in time. */
export function seekInWatch(
  { clock, options }: SeekParts,
  open: OpenWatch,
  otherwise: Outcome,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const seeking: WatchUse = { kind: "seeking", look };
    let cancelLook = clock.after(0, look);
    const cancelEnd = clock.after(options.evidenceMs, () => end(otherwise));
    open.use = seeking;

    function look(): void {
      cancelLook();
      const decision = decide(open.watch, clock.monotonicMs(), options.settleMs, otherwise);
      if (decision.kind === "outcome") end(decision.outcome);
      else if (decision.lookInMs !== null) cancelLook = clock.after(decision.lookInMs, look);
    }

    function end(outcome: Outcome): void {
      cancelLook();
      cancelEnd();
      if (open.use === seeking) open.use = { kind: "idle" };
      resolve(outcome);
    }
  });
}

function decide(watch: Watch, nowMs: number, settleMs: number, otherwise: Outcome): Decision {
  const said = verdict(watch, nowMs, settleMs);
  switch (said.kind) {
    case "found":
      return { kind: "outcome", outcome: inferred(otherwise, said.text, said.missionId) };
    case "ambiguous":
      return {
        kind: "outcome",
        outcome: { ...otherwise, message: `${otherwise.message} (${said.text})` },
      };
    case "nothing": {
      const [first] = watch.findings;
      const leftMs = first === undefined ? 0 : settleMs - (nowMs - first.seenMs);
      // Timers may fire a moment early.
      return { kind: "wait", lookInMs: leftMs > 0 ? Math.max(1, leftMs) : null };
    }
  }
}

/**
 * Asks until an answer is evidence, or until the time is over.
 *
 * @param judge returns what the service's answers show now; null: nothing
 */
export function seekInAnswers(
  { clock, options }: SeekParts,
  evaluate: () => Promise<string | null>,
  otherwise: Outcome,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let isOver = false;
    let cancelNext: Cancel = () => {};
    const cancelEnd = clock.after(options.evidenceMs, () => end(otherwise));

    async function ask(): Promise<void> {
      const text = await evaluate();
      if (isOver) return;
      if (text === null) cancelNext = clock.after(options.pollMs, () => void ask());
      else end(inferred(otherwise, text, null));
    }

    function end(outcome: Outcome): void {
      isOver = true;
      cancelNext();
      cancelEnd();
      resolve(outcome);
    }

    void ask();
  });
}

function inferred(otherwise: Outcome, evidence: string, missionId: string | null): Outcome {
  return {
    ...otherwise,
    outcome: "probably_succeeded",
    code: "OK",
    message: `inferred: the call itself ended ${otherwise.code}`,
    evidence,
    missionId,
  };
}
