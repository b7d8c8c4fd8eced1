import type { Log } from "../platform/log.ts";

/** The oldest Node.js that runs the gateway: that of `engines` in package.json. */
const OLDEST = { major: 20, minor: 19 } as const;

/**
 * The message for a user of an older Node.js; null: it is new enough. An older version fails while it loads
 * the program, with a message that names no cause.
 *
 * @param version as in `process.versions.node`
 */
export function oldNodeProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return null;
  return (
    `needs Node.js ${OLDEST.major}.${OLDEST.minor} or newer, and this is ${version}: install a newer one from ` +
    "nodejs.org, or Fleetgate's Debian package or tarball, which have their own"
  );
}

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
