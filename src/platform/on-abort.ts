/** Who waits for a signal, and the one listener that calls them all. */
interface Waiting {
  readonly tasks: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `task` when the signal is aborted, at once when it already is. What is returned stops that; it is to
 * be called when the signal does not matter any more, and is harmless afterwards.
 *
 * One listener for all: a signal looks through its listeners at each that is added and each that is removed,
 * and hundreds of streams wait for the same signal. It goes with the last who waits.
 */
export function onAbort(signal: AbortSignal, task: () => void): () => void {
  if (signal.aborted) {
    task();
    return () => {};
  }
  const { tasks, listener } = waiting.get(signal) ?? listen(signal);
  // Of its own, so that the same task may wait twice.
  const own = () => task();
  tasks.add(own);
  return () => {
    if (!tasks.delete(own) || tasks.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

/** How many tasks wait for the signal, by one listener or none. */
export function abortTasks(signal: AbortSignal): number {
  return waiting.get(signal)?.tasks.size ?? 0;
}

function listen(signal: AbortSignal): Waiting {
  const tasks = new Set<() => void>();
  const listener = () => {
    waiting.delete(signal);
    for (const task of tasks) task();
  };
  signal.addEventListener("abort", listener, { once: true });
  const made = { tasks, listener };
  waiting.set(signal, made);
  return made;
}
