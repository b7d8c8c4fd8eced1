/** How long a request without `Prefer` waits for a final outcome. */
const USUAL_WAIT_SECONDS = 10;
const LONGEST_WAIT_SECONDS = 60;

/**
 * How many seconds a client is ready to wait, by `Prefer: wait=N` (RFC 7240), at most 60. An unreadable value
 * is ignored, as the RFC says.
 */
export function waitSeconds(prefer: string | readonly string[] | undefined): number {
  const wait = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=[,;]|$)/i.exec(String(prefer ?? ""))?.[1];
  return wait === undefined ? USUAL_WAIT_SECONDS : Math.min(Number(wait), LONGEST_WAIT_SECONDS);
}
