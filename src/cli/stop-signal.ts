import { exitCodes } from "./exit.ts";

/** Aborted by the first SIGINT or SIGTERM. A second one ends the process at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(exitCodes.failure);
    controller.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return controller.signal;
}
