import { type BackoffOptions, createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Attempt, AttemptOutcome, Sender } from "./sender.ts";

/** How deliveries of one subscription are made. */
export interface DeliveryOptions {
  readonly attempts: number;
  readonly backoff: BackoffOptions;
  /** How many events may wait; beyond it the oldest is lost. */
  readonly queueLimit: number;
}

/** The deliveries of one subscription: one after the other, in the order of the events. */
export interface Delivery {
  /** Queues an event's delivery; never waits. `prepare` is called when its turn has come. */
  offer(prepare: () => Attempt): void;
  /** Gives up the waiting deliveries and the one under way. */
  stop(): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export interface DeliveryParts {
  readonly sender: Sender;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly options: DeliveryOptions;
  /** Called with each final outcome. */
  settled(outcome: AttemptOutcome): void;
}

export function createDelivery(parts: DeliveryParts): Delivery {
  const { sender, clock, random, log, options } = parts;
  const closing = new AbortController();
  const waiting: Array<() => Attempt> = [];
  let isOverflowing = false;
  let isBusy = false;
  let work: Promise<void> = Promise.resolve();

  /** Tries until it is delivered, refused for good, or tried often enough. */
  async function deliver(attempt: Attempt): Promise<AttemptOutcome | undefined> {
    const backoff = createBackoff(options.backoff, random);
    for (let tries = 1; ; tries += 1) {
      const outcome = await sender.send(attempt, closing.signal);
      if (closing.signal.aborted) return undefined;
      if (outcome.kind !== "retryable" || tries >= options.attempts) return outcome;
      if (!(await sleep(clock, backoff.nextMs(), closing.signal))) return undefined;
    }
  }

  async function drain(): Promise<void> {
    isBusy = true;
    try {
      for (let prepare = waiting.shift(); prepare !== undefined; prepare = waiting.shift()) {
        const outcome = await deliver(prepare());
        if (outcome !== undefined) parts.settled(outcome);
      }
      isOverflowing = false;
    } finally {
      isBusy = false;
    }
  }

  return {
    offer(prepare) {
      if (closing.signal.aborted) return;
      waiting.push(prepare);
      if (waiting.length > options.queueLimit) {
        waiting.shift();
        if (!isOverflowing) log.warn({ queueLimit: options.queueLimit }, "events wait too long and are lost");
        isOverflowing = true;
      }
      if (isBusy) return;
      work = drain().catch((error: unknown) => log.error({ err: error }, "a delivery failed by a bug"));
    },
    stop() {
      closing.abort();
      waiting.length = 0;
    },
    idle: () => work,
  };
}
