import { clip } from "../../domain/clip.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { ReplyTo } from "./replies.ts";

const LOG_WINDOW_MS = 1_000;
const LOGS_A_WINDOW = 10;
/** Of names that clients choose, in a log line. */
const LONGEST_NAME = 128;

/** Logs refusals, at most ten a second: a client that sends rubbish must not fill the disk. */
export function createRefusalLog(clock: Clock, log: Log) {
  let windowAtMs = Number.NEGATIVE_INFINITY;
  let logged = 0;
  let silent = 0;
  return (to: ReplyTo, { code, message: reason }: Outcome) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - windowAtMs >= LOG_WINDOW_MS) {
      windowAtMs = nowMs;
      logged = 0;
    }
    if (logged === LOGS_A_WINDOW) {
      silent += 1;
      return;
    }
    logged += 1;
    const [client, operation] = [to.client, to.operation].map((name) => clip(name, LONGEST_NAME));
    const id = to.id === null ? null : clip(to.id, LONGEST_NAME);
    log.warn({ client, operation, id, code, reason, notLogged: silent }, "an MQTT command was refused");
    silent = 0;
  };
}
