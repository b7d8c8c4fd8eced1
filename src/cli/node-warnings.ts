import type { Log } from "../platform/log.ts";

/**
 * Makes a line of the log of each warning of Node.js: a reader of the log expects nothing but JSON. What Node.js
 * deprecates, as the address in place of a name that gRPC gives to TLS, concerns developers only.
 */
export function logWarnings(log: Log): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name === "DeprecationWarning") log.debug({ err: warning }, "Node.js warns");
    else log.warn({ err: warning }, "Node.js warns");
  });
}
