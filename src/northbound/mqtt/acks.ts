import type { Loss } from "./loss.ts";

/** Counts what was published with QoS 1 and is not acknowledged, without a promise a message. */
export interface Acks {
  /** One message more; the result is the callback that its acknowledgement calls. */
  expect(): () => void;
  /** Resolves when everything is acknowledged; rejects when the connection ends first. */
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
