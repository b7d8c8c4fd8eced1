import { exitCodes } from "./exit.ts";

/** npm passes a Ctrl-C on to the program that the terminal has told already: both are one. */
const SAME_CTRL_C_MS = 1_000;

/** Aborted by the first SIGINT or SIGTERM. Another one, a second later or more, ends the process at once. */
export function stopSignal(): AbortSignal {
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
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return controller.signal;
}
