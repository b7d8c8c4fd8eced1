import { exitCodes } from "./exit.ts";

/** Both npm and the terminal send a Ctrl-C to the program: signals this close together count as one. */
const SAME_CTRL_C_MS = 1_000;

/**
 * Aborted by the first SIGINT or SIGTERM. A further one, at least a second later, ends the process at once.
 * @param others further signals that stop the program
 */
export function stopSignal(others: readonly NodeJS.Signals[] = []): AbortSignal {
  const controller = new AbortController();
  let firstAtMs = 0;
  const onSignal = () => {
    const nowMs = performance.now();
    if (!controller.signal.aborted) {
      firstAtMs = nowMs;
      controller.abort();
    } else if (nowMs - firstAtMs >= SAME_CTRL_C_MS) {
      process.exit(exitCodes.failure);
    }
  };
  for (const name of ["SIGINT", "SIGTERM", ...others] as const) process.on(name, onSignal);
  return controller.signal;
}

/**
 * Keeps SIGHUP from ending the process: systemd counts that as a clean end, and does not start the service
 * again. The listener that `hear` gets is called for each SIGHUP; earlier ones count as one.
 */
export function hangups(): { listen(listener: () => void): void } {
  let listener: (() => void) | null = null;
  let isWaiting = false;
  process.on("SIGHUP", () => {
    if (listener === null) isWaiting = true;
    else listener();
  });
  return {
    listen(first) {
      listener = first;
      if (isWaiting) first();
    },
  };
}
