import type { Message } from "@bufbuild/protobuf";
import type { CallEnding, CallOrder, FleetPort } from "../../contracts/fleet-port.ts";
import { within } from "../../platform/within.ts";
import type { CommandChannel } from "../channels/command-channel.ts";
import type { Http } from "../http.ts";
import { readOperations } from "../operations/effect.ts";
import type { Method } from "../operations/method.ts";
import { openRequest } from "../operations/request.ts";
import type { FleetOptions } from "../options.ts";
import type { Session } from "../session/session.ts";
import { callGrpc } from "./grpc-call.ts";
import { callHttp } from "./http-call.ts";

export interface CallsParts {
  readonly session: Session;
  readonly channel: CommandChannel;
  readonly http: Http;
  /** Ends every call when the gateway stops. */
  readonly signal: AbortSignal;
}

/**
 * How long a call waits for a connection or a token before it is given up unsent: what leaves late acts late.
 */
const LONGEST_WAIT_MS = 2_000;

const alone: CallOrder = { isStop: false, mayLeave: () => true };
const overtaken: CallEnding = {
  kind: "not_sent",
  message: "a stop of the same robot overtook it before it left",
  byStop: true,
};

/**
 * Sends operations to the service: each once, over gRPC or HTTPS. The one repeat is
 * after UNAUTHENTICATED, an explicit refusal, with a new token (design, Commands), if
 * that comes soon. All of it is over within the deadline.
 */
export function createCalls(options: FleetOptions, parts: CallsParts): FleetPort {
  const { session, channel, http, signal } = parts;

  async function send(
    method: Method,
    request: Message,
    jwt: string,
    time: Time,
    order: CallOrder,
  ): Promise<CallEnding> {
    if (!order.mayLeave()) return overtaken;
    let isOvertaken = false;
    /** In the very moment in which it would leave. */
    const leaves = () => {
      isOvertaken = !order.mayLeave();
      if (!isOvertaken) order.leaves?.();
      return !isOvertaken;
    };
    if (!method.hasGrpc || options.transport === "rest") {
      const reads = readOperations.has(method.name);
      const times = { deadlineMs: time.leftMs(), leaveWithinMs: time.toLeaveMs() };
      const manner = { reads, leaves };
      const ending = await callHttp(http, options.httpsUrl, method, request, jwt, manner, times, signal);
      return isOvertaken ? overtaken : ending;
    }
    const permit = await channel.ready(Math.min(LONGEST_WAIT_MS, time.toLeaveMs()), order);
    if (typeof permit === "string") return { kind: "not_sent", message: permit };
    try {
      if (!leaves()) return overtaken;
      return await callGrpc(permit.client, options.serviceName, method, request, jwt, time.leftMs());
    } finally {
      permit.release();
    }
  }

  return {
    async call(sealed, deadlineMs, leaveWithinMs = deadlineMs, order = alone) {
      const opened = openRequest(sealed);
      if (opened === null) return { kind: "not_sent", message: "the request is of no operation" };
      const { method, message: request } = opened;
      const time = timeFrom(deadlineMs, leaveWithinMs);
      const jwt = await tokenWithin(session, Math.min(LONGEST_WAIT_MS, time.toLeaveMs()), signal);
      if (jwt === null) {
        return { kind: "not_sent", message: `no token: ${session.state().problem ?? "the gateway stops"}` };
      }
      const ending = await send(method, request, jwt, time, order);
      if (ending.kind !== "refused" || ending.code !== "UNAUTHENTICATED") return ending;
      const waitMs = Math.min(LONGEST_WAIT_MS, time.toLeaveMs());
      const other = await within(signal, waitMs, (bounded) => session.replace(jwt, bounded));
      // What may leave no more stays refused, as the service said.
      const isOver = other === null || time.toLeaveMs() <= 0 || (order.isStop && !order.mayLeave());
      return isOver ? ending : send(method, request, other, time, order);
    },
  };
}

/** What is left of a call's time, in real milliseconds: connections know no other. */
interface Time {
  leftMs(): number;
  toLeaveMs(): number;
}

function timeFrom(deadlineMs: number, leaveWithinMs: number): Time {
  const startedMs = performance.now();
  const left = (allMs: number) => Math.max(0, allMs - (performance.now() - startedMs));
  return {
    leftMs: () => Math.max(1, left(deadlineMs)),
    toLeaveMs: () => left(Math.min(deadlineMs, leaveWithinMs)),
  };
}

function tokenWithin(session: Session, waitMs: number, signal: AbortSignal): Promise<string | null> {
  const now = session.token();
  return now !== null
    ? Promise.resolve(now)
    : within(signal, waitMs, (bounded) => session.authorized(bounded));
}
