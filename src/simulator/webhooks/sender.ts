import type { LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import { Agent, request } from "undici";
import type { Clock } from "../../platform/clock.ts";
import { describeError } from "../../platform/error-text.ts";
import { isPublic, literalAddress, type Resolve } from "./target.ts";

/** One attempt to deliver. */
export interface Attempt {
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
