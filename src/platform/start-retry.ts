import { createServer } from "node:net";
import { type BackoffOptions, createBackoff, type RandomSource } from "./backoff.ts";
import { type Clock, sleep } from "./clock.ts";
import type { Component } from "./component.ts";
import type { Log } from "./log.ts";
import { listenCode, refusalAdvice } from "./port-taken.ts";

export interface StartRetryParts {
  readonly backoff: BackoffOptions;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

/** An address on which a component listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Waits for what the start of one component needs, by trying again and again. Each wait ends when an attempt
 * succeeds, or the signal is aborted. It calls `ready` at the first failure: the other components start
 * meanwhile.
 */
export interface StartRetry {
  /** @param attempt resolves with what is wrong and what would be right; with null if it has succeeded */
  wait(attempt: () => Promise<string | null>, signal: AbortSignal, ready: () => void): Promise<void>;
  /** Waits until the system gives a listener its address. `name` is its section in the configuration. */
  waitForAddress(name: string, address: ListenAddress, signal: AbortSignal, ready: () => void): Promise<void>;
  /** What is wrong; null: it waits for nothing. */
  problem(): string | null;
  /** The component, with a health that is down while it waits. */
  shown<T extends Component>(component: T): T;
}

export function createStartRetry({ backoff, clock, random, log }: StartRetryParts): StartRetry {
  let problem: string | null = null;

  async function wait(attempt: () => Promise<string | null>, signal: AbortSignal, ready: () => void) {
    const waits = createBackoff(backoff, random);
    while (!signal.aborted) {
      const found = await attempt();
      // One line for each reason, not for each attempt.
      if (found !== null && found !== problem) log.warn({}, found);
      if (found === null && problem !== null) log.info({ was: problem }, "the start goes on");
      problem = found;
      if (found === null) return;
      ready();
      await sleep(clock, waits.nextMs(), signal);
    }
    problem = null;
  }

  return {
    wait,
    waitForAddress(name, address, signal, ready) {
      const attempt = async () => {
        const fault = await listenFault(address);
        return fault === null ? null : listenProblem(fault, name, address);
      };
      return wait(attempt, signal, ready);
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

function listenProblem(fault: Error, name: string, { host, port }: ListenAddress): string {
  const code = listenCode(fault);
  const advice =
    code === null
      ? `${fault.message}: choose another ${name}.listen`
      : refusalAdvice(code, port, `${name}.listen.port`);
  return `${name} cannot listen on ${host}, port ${port}: ${advice}; the gateway tries again by itself`;
}

/** Listens for a moment. Resolves with the error; null: it is possible. */
export function listenFault({ host, port }: ListenAddress): Promise<Error | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => resolve(error));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
