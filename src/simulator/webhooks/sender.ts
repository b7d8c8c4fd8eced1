import type { LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import { Agent, request } from "undici";
import { type BackoffOptions, createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import { describeError } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import { isPublic, literalAddress, type Resolve } from "./target.ts";

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

interface DeliveryParts {
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

/** One attempt to deliver. */
interface Attempt {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How an attempt ended (docs/internals/service.md, WHK-38 to WHK-43). */
export type AttemptOutcome =
  | { readonly kind: "delivered" }
  | { readonly kind: "retryable"; readonly reason: string }
  | { readonly kind: "permanent"; readonly reason: string };

/** Sends deliveries. */
export interface Sender {
  /** Never rejects: every ending is an outcome. */
  send(attempt: Attempt, signal: AbortSignal): Promise<AttemptOutcome>;
  close(): Promise<void>;
}

export interface SenderOptions {
  readonly clock: Clock;
  readonly resolve: Resolve;
  readonly timeoutMs: number;
  /** Allows deliveries to any address, and trusts `trustedCa` (PEM) beside the public CAs: for tests only. */
  readonly unsafe: { readonly trustedCa?: string } | undefined;
}

/**
 * An address to which deliveries must not go. Not retried: a name with an internal address is no network
 * error.
 */
class ForbiddenAddress extends Error {
  override readonly name = "ForbiddenAddress";
}

const MOST_ANSWER_BYTES = 65_536;
const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** Sends over HTTPS, to public addresses only: the address is checked when the connection is made. */
export function createSender(options: SenderOptions): Sender {
  const { clock, timeoutMs, unsafe } = options;
  const trusted = unsafe?.trustedCa === undefined ? {} : { ca: [...rootCertificates, unsafe.trustedCa] };
  const agent = new Agent({
    connect: { ...trusted, lookup: guardedLookup(options), timeout: timeoutMs },
    // Redirects are not followed: undici follows none by default.
    connections: 8,
  });

  async function attempt({ url, headers, body }: Attempt, signal: AbortSignal): Promise<AttemptOutcome> {
    const literal = literalAddress(new URL(url));
    // A literal address is never looked up, so the lookup cannot check it.
    if (literal !== undefined && unsafe === undefined && !isPublic(literal)) throw forbidden(literal);
    const answer = await request(url, { dispatcher: agent, method: "POST", headers, body, signal });
    await answer.body.dump({ limit: MOST_ANSWER_BYTES, signal });
    return evaluate(answer.statusCode);
  }

  return {
    async send(sent, signal) {
      const over = new AbortController();
      const cancel = clock.after(timeoutMs, () => over.abort(new Error(`no answer within ${timeoutMs} ms`)));
      // AbortSignal.any would leave an entry in the service's own signal each time.
      const stop = () => over.abort(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      try {
        return await attempt(sent, over.signal);
      } catch (error) {
        const reason = describeError(error);
        return { kind: isForbidden(error) ? "permanent" : "retryable", reason };
      } finally {
        cancel();
        signal.removeEventListener("abort", stop);
      }
    },
    close: () => agent.destroy(),
  };
}

function evaluate(status: number): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: "delivered" };
  const isRetryable = retryableStatuses.has(status) || status >= 500;
  return { kind: isRetryable ? "retryable" : "permanent", reason: `HTTP status ${status}` };
}

/** A DNS lookup that fails if any of the addresses is not public. */
function guardedLookup({ resolve, unsafe }: SenderOptions): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const wrong = unsafe === undefined ? addresses.find((address) => !isPublic(address)) : undefined;
        const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
        const [first] = found;
        if (wrong !== undefined) callback(forbidden(wrong), "", 0);
        else if (first === undefined) callback(new Error(`${hostname} has no address`), "", 0);
        else if (all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(new Error(`${hostname} does not resolve`, { cause: error }), "", 0),
    );
  };
}

function forbidden(address: string): ForbiddenAddress {
  return new ForbiddenAddress(`${address} is no public address`);
}

function isForbidden(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ForbiddenAddress) return true;
  return false;
}
