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

/** The errors of a pipe without a reader, and of later writes to it. */
const unreadCodes: ReadonlySet<unknown> = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

/**
 * Keeps every command going when the reader of its output, such as `head`, has ended: each change is
 * completed, and the exit code is that of the outcome. Output that fails otherwise, as on a full disk, ends
 * the command.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (unreadCodes.has(error.code)) return;
      process.stderr.write(`fleetgate: its output cannot be written: ${error.message}\n`);
      process.exit(exitCodes.failure);
    });
}

/** Ends a command that only shows something when its reader ends. This is no failure. */
export function endWithReader(): void {
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (unreadCodes.has(code)) process.exit();
  });
}
