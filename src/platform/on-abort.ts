/** The tasks that wait for a signal, and the one listener that calls them all. */
interface Waiting {
  readonly tasks: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `task` when the signal is aborted, or at once if it is already. The returned function cancels that:
 * call it when the signal no longer matters; it is harmless afterwards. There is one listener for all tasks,
 * because a signal searches its listeners at each addition and removal, and hundreds of streams wait for the
 * same signal. The listener is removed with the last task.
 */
export function onAbort(signal: AbortSignal, task: () => void): () => void {
  if (signal.aborted) {
    task();
    return () => {};
  }
  const { tasks, listener } = waiting.get(signal) ?? listen(signal);
  // A function of its own, so that the same task may wait twice.
  const own = () => task();
  tasks.add(own);
  return () => {
    if (!tasks.delete(own) || tasks.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

/** How many tasks wait for the signal, with one listener or none. */
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
