import type { Loss } from "./loss.ts";

/** Counts messages with QoS 1 that are not acknowledged yet, without a promise for each. */
export interface Acks {
  /** Counts one more message; the returned callback is called by its acknowledgement. */
  expect(): () => void;
  /** Resolves when everything is acknowledged; rejects if the connection ends first. */
  settled(): Promise<void>;
}

export function createAcks(loss: Loss): Acks {
  let pending = 0;
  let whenSettled: (() => void) | null = null;
  const acknowledge = () => {
    pending -= 1;
    if (pending > 0) return;
    whenSettled?.();
    whenSettled = null;
  };
  return {
    expect() {
      pending += 1;
      return acknowledge;
    },
    settled() {
      if (pending === 0) return Promise.resolve();
      return loss.orElse((done) => {
        whenSettled = done;
      });
    },
  };
}
