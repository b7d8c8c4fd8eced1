import { CallRequest, type ISessionContext, type OPCUAServer } from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";

/** The longest wait, for any timeout of the client. */
const LONGEST_MS = 4_000;
/** The share of the client's timeout: the answer needs time on its way, too. */
const SHARE = 0.5;

/**
 * How long the caller of a method may still be kept waiting: a share of its client's timeout. All methods of
 * one request share it, because the server executes them one after the other.
 */
export function watchMethodWait(server: OPCUAServer, clock: Clock): (context: ISessionContext) => number {
  const deadlines = new WeakMap<object, number>();
  server.on("request", (request) => {
    if (!(request instanceof CallRequest)) return;
    const session = server.engine.getSession(request.requestHeader.authenticationToken);
    if (session === null) return;
    const { timeoutHint } = request.requestHeader;
    const waitMs = timeoutHint === 0 ? LONGEST_MS : Math.min(LONGEST_MS, timeoutHint * SHARE);
    deadlines.set(session, clock.monotonicMs() + waitMs);
  });
  return ({ session }) => {
    const deadlineMs = session === undefined ? undefined : deadlines.get(session);
    return deadlineMs === undefined ? LONGEST_MS : Math.max(0, deadlineMs - clock.monotonicMs());
  };
}
