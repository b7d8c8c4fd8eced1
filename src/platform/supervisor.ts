import type { Clock } from "./clock.ts";
import type { Component } from "./component.ts";
import { messageOf } from "./error-text.ts";
import type { Log } from "./log.ts";

/** One component of the daemon and its time limits. */
export interface Step {
  readonly component: Component;
  /** How long it may take to become ready. */
  readonly startTimeoutMs: number;
  /**
   * How long it may take to clean up. After that it is abandoned, which is a failure unless it was still
   * starting.
   */
  readonly stopTimeoutMs: number;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Called once, when every component is ready. */
  readonly onReady: () => void;
}

/** A component failed. The reason is the cause. */
export class ComponentFailed extends Error {
  override readonly name = "ComponentFailed";
  readonly component: string;

  constructor(component: string, problem: string, options?: ErrorOptions) {
    super(`${component}: ${problem}`, options);
    this.component = component;
  }
}

interface Running {
  readonly step: Step;
  readonly stop: AbortController;
  /** Whether it has been ready. */
  readonly wasReady: () => boolean;
  /** Resolves with the failure, or null after a clean end. Never rejects. */
  readonly ended: Promise<ComponentFailed | null>;
}

/**
 * Opens the components in order, each when the one before is ready; waits until the signal is aborted or a
 * component fails; then closes all in reverse, one after the other.
 *
 * @throws ComponentFailed the first failure, after everything has been closed
 */
export async function runSupervised(
  steps: readonly Step[],
  signal: AbortSignal,
  options: SupervisorOptions,
): Promise<void> {
  const { log } = options;
  const running: Running[] = [];
  let firstFailure: ComponentFailed | null = null;
  let onOver = () => {};
  const over = new Promise<void>((resolve) => {
    onOver = resolve;
  });
  const fail = (failure: ComponentFailed) => {
    if (firstFailure === null) firstFailure = failure;
    else log.error({ err: failure }, "another component failed");
    onOver();
  };
  const isOver = () => signal.aborted || firstFailure !== null;
  signal.addEventListener("abort", onOver, { once: true });

  for (const step of steps) {
    if (isOver()) break;
    await open(step, running, over, fail, options);
  }
  if (!isOver()) {
    options.onReady();
    await over;
  }
  signal.removeEventListener("abort", onOver);
  for (const opened of running.reverse()) await close(opened, fail, options);
  if (firstFailure !== null) throw firstFailure;
}

/** Starts a component and waits until it is ready, has failed, took too long, or the daemon stops. */
async function open(
  step: Step,
  running: Running[],
  over: Promise<void>,
  fail: (failure: ComponentFailed) => void,
  { clock, log }: SupervisorOptions,
): Promise<void> {
  const { component, startTimeoutMs } = step;
  const { name } = component;
  const stop = new AbortController();
  await new Promise<void>((resolve) => {
    const cancel = clock.after(startTimeoutMs, () => {
      fail(new ComponentFailed(name, `not ready within ${startTimeoutMs} ms`));
    });
    const settle = () => {
      cancel();
      resolve();
    };
    let isReady = false;
    const ready = () => {
      isReady = true;
      log.debug({ component: name }, "ready");
      settle();
    };
    const ended = runToEnd(component, stop.signal, ready).then((failure) => {
      if (failure !== null) fail(failure);
      settle();
      return failure;
    });
    running.push({ step, stop, wasReady: () => isReady, ended });
    over.then(settle);
  });
}

async function runToEnd(
  component: Component,
  signal: AbortSignal,
  ready: () => void,
): Promise<ComponentFailed | null> {
  try {
    await component.run(signal, ready);
  } catch (error) {
    const problem = messageOf(error);
    return new ComponentFailed(component.name, problem, { cause: error });
  }
  return signal.aborted ? null : new ComponentFailed(component.name, "ended although nobody stopped it");
}

async function close(
  { step, stop, wasReady, ended }: Running,
  fail: (failure: ComponentFailed) => void,
  { clock, log }: SupervisorOptions,
): Promise<void> {
  const { component, stopTimeoutMs } = step;
  stop.abort();
  await new Promise<void>((resolve) => {
    const cancel = clock.after(stopTimeoutMs, () => {
      const problem = `did not stop within ${stopTimeoutMs} ms`;
      // A start that cannot be interrupted ends by itself. If a user stops the daemon meanwhile, that is no
      // failure.
      if (wasReady()) fail(new ComponentFailed(component.name, problem));
      else log.warn({ component: component.name }, `${problem}: it was still starting`);
      resolve();
    });
    ended.then(() => {
      cancel();
      log.debug({ component: component.name }, "stopped");
      resolve();
    });
  });
}
