import type { RecorderTap } from "../../platform/recorder/tap.ts";

/** Records the answers of polls. */
export type PollTap = (operation: string, requestJson: string, answer: Buffer) => void;

/** Task chains are polled one by one. */
const MOST_KEPT = 200;

/**
 * A poll often has the same answer as before: an answer is recorded when it differs, and once for each
 * segment, so that none is missing when older segments are removed.
 */
export function createPollTap(tap: RecorderTap): PollTap {
  const last = new Map<string, { readonly segment: number; readonly answer: Buffer }>();
  return (operation, requestJson, answer) => {
    if (!tap.isOn) return;
    const { segment } = tap;
    const key = `${operation} ${requestJson}`;
    const before = last.get(key);
    if (before?.segment === segment && before.answer.equals(answer)) return;
    if (last.size >= MOST_KEPT) last.clear();
    last.set(key, { segment, answer });
    tap.write("read", { name: operation, first: Buffer.from(requestJson), second: answer });
  };
}
