import type { Server } from "node:net";
import { type Clock, sleep } from "./clock.ts";
import type { Component } from "./component.ts";
import { messageOf } from "./error-text.ts";
import { listenError, PortRefused, PortTaken, refusalAdvice } from "./listener.ts";
import type { Log } from "./log.ts";
import { PairRefused } from "./tls-files.ts";

/** A random source of numbers in [0, 1), as Math.random is. Injected, so that a seed repeats a run. */
export type RandomSource = () => number;

/** Bounds of a backoff, in milliseconds. */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Delays that grow with each failure, with full jitter. */
interface Backoff {
  /** The next delay in milliseconds: uniform between 0 and base · 2ⁿ, at most the cap. */
  nextMs(): number;
  /** Starts again from the base, after a success. */
  reset(): void;
}

/**
 * Exponential backoff with full jitter: clients that lost the same service at the
 * same moment come back spread over the whole interval, not all at once.
 */
export function createBackoff(options: BackoffOptions, random: RandomSource): Backoff {
  let attempt = 0;
  return {
    nextMs() {
      const ceilingMs = Math.min(options.capMs, options.baseMs * 2 ** attempt);
      if (ceilingMs < options.capMs) attempt += 1;
      return random() * ceilingMs;
    },
    reset() {
      attempt = 0;
    },
  };
}

interface StartRetryParts {
  readonly backoff: BackoffOptions;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

/** An address on which a component listens. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Does what the start of one component needs, and tries again and again. */
export interface StartRetry {
  /**
   * Resolves when an attempt has succeeded, or the signal is aborted. It calls `ready` at the first failure:
   * the other components start meanwhile.
   *
   * @param problemOf what is wrong, and what would be right
   */
  begin(
    attempt: () => Promise<unknown>,
    problemOf: (error: unknown) => string,
    signal: AbortSignal,
    ready: () => void,
  ): Promise<void>;
  /** What is wrong; null: it waits for nothing. */
  problem(): string | null;
  /** The component, with a health that is down while it waits. */
  shown<T extends Component>(component: T): T;
}

/** Tries once, and rejects if that fails. */
export const startOnce: StartRetry = {
  async begin(attempt) {
    await attempt();
  },
  problem: () => null,
  shown: (component) => component,
};

export function createStartRetry({ backoff, clock, random, log }: StartRetryParts): StartRetry {
  let problem: string | null = null;

  async function failureOf(attempt: () => Promise<unknown>, problemOf: (error: unknown) => string) {
    try {
      await attempt();
      return null;
    } catch (error) {
      return `${problemOf(error)}; the gateway tries again by itself`;
    }
  }

  return {
    async begin(attempt, problemOf, signal, ready) {
      const waits = createBackoff(backoff, random);
      while (!signal.aborted) {
        const found = await failureOf(attempt, problemOf);
        // One line for each reason, not for each attempt.
        if (found !== null && found !== problem) log.warn({}, found);
        if (found === null && problem !== null) log.info({ was: problem }, "the start goes on");
        problem = found;
        if (found === null) return;
        ready();
        await sleep(clock, waits.nextMs(), signal);
      }
      problem = null;
    },
    problem: () => problem,
    shown: (component) => ({
      ...component,
      health() {
        const health = component.health();
        return problem === null ? health : { ...health, state: "down", detail: problem };
      },
    }),
  };
}

/**
 * Listens when the system gives a listener its address, and TLS takes its certificate.
 *
 * @param name its section in the configuration
 * @param attempt listens, and rejects if that is not possible now
 */
export function beginListening(
  retry: StartRetry,
  name: string,
  { host, port }: ListenAddress,
  attempt: () => Promise<unknown>,
  signal: AbortSignal,
  ready: () => void,
): Promise<void> {
  const problemOf = (error: unknown) =>
    `${name} cannot listen on ${host}, port ${port}: ${listenAdvice(error, name, port)}`;
  return retry.begin(attempt, problemOf, signal, ready);
}

function listenAdvice(error: unknown, name: string, port: number): string {
  const option = `${name}.listen.port`;
  if (error instanceof PortTaken) return refusalAdvice("EADDRINUSE", port, option);
  if (error instanceof PortRefused) return refusalAdvice(error.code, port, option);
  if (error instanceof PairRefused) return `${error.message}; replace certificate and key`;
  return `${messageOf(error)}: choose another ${name}.listen`;
}

/**
 * Listens once; after a failure it may be called again. Rejects with PortTaken, PortRefused or the system's
 * error.
 */
export function listenOn(server: Server, name: string, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => {
      server.off("listening", onListening);
      reject(listenError(error, name, port));
    };
    const onListening = () => {
      server.off("error", onError);
      resolve();
    };
    server.once("error", onError);
    server.once("listening", onListening);
    server.listen(port, host);
  });
}
