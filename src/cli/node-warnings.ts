import type { Log } from "../platform/log.ts";

/**
 * Logs each warning of Node.js: a reader of the log expects only JSON. Deprecations concern only developers,
 * so their level is debug.
 */
export function logWarnings(log: Log): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name === "DeprecationWarning") log.debug({ err: warning }, "Node.js warns");
    else log.warn({ err: warning }, "Node.js warns");
  });
}
