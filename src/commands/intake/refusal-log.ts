import type { RefusedRequest } from "../../contracts/commander.ts";
import { clip } from "../../domain/clip.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";

const LOG_WINDOW_MS = 1_000;
const LOGS_A_WINDOW = 10;
/** Of names that senders choose. */
const LONGEST_NAME = 128;

/** Logs refusals, at most ten a second: a client that sends rubbish must not fill the disk. */
export function createRefusalLog(
  clock: Clock,
  log: Log,
): (request: RefusedRequest, outcome: Outcome) => void {
  let windowAtMs = Number.NEGATIVE_INFINITY;
  let logged = 0;
  let notLogged = 0;
  return ({ source, operation, requestId }, { code, message: reason }) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - windowAtMs >= LOG_WINDOW_MS) {
      windowAtMs = nowMs;
      logged = 0;
    }
    if (logged === LOGS_A_WINDOW) {
      notLogged += 1;
      return;
    }
    logged += 1;
    const fields = {
      protocol: source.protocol,
      user: clip(source.name, LONGEST_NAME),
      operation: clip(operation, LONGEST_NAME),
      id: requestId === null ? null : clip(requestId, LONGEST_NAME),
    };
    log.warn({ ...fields, code, reason, notLogged }, "a command was refused");
    notLogged = 0;
  };
}
