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
