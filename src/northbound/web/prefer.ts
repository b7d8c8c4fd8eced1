/** How long a request waits for a final outcome when it does not say. */
const USUAL_WAIT_SECONDS = 10;
const LONGEST_WAIT_SECONDS = 60;

/**
 * How many seconds a client is ready to wait, by `Prefer: wait=N` (RFC 7240), at most 60. What it cannot read
 * it ignores, as the RFC has it.
 */
export function waitSeconds(prefer: string | readonly string[] | undefined): number {
  const wait = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=[,;]|$)/i.exec(String(prefer ?? ""))?.[1];
  return wait === undefined ? USUAL_WAIT_SECONDS : Math.min(Number(wait), LONGEST_WAIT_SECONDS);
}
