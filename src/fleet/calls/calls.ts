import { isMessage, type Message, toBinary } from "@bufbuild/protobuf";
import type { CallEnding, CallOrder, FleetPort } from "../../contracts/fleet-port.ts";
import { grpcCodeNames } from "../../domain/errors.ts";
import { within } from "../../platform/clock.ts";
import { noTap, type RecorderTap } from "../../platform/recorder/recording.ts";
import { GetMapRequestSchema } from "../../wire/fleet/http/v1/task_pb.js";
import type { CallFate } from "../channels/call-capacity.ts";
import type { CommandChannel } from "../channels/command-channel.ts";
import type { Http } from "../http.ts";
import type { IdentifierGate } from "../identifiers.ts";
import type { MapCache } from "../maps.ts";
import { type Method, openRequest } from "../operations/row.ts";
import type { FleetOptions } from "../options.ts";
import type { Session } from "../session/session.ts";
import { SECRET_HEADER } from "../webhooks/receiver.ts";
import { callGrpc, callHttp, isUnanswered } from "./service-call.ts";

/** The header in JSON, in any case: names of HTTP headers are case-insensitive. */
const SHOWN = new RegExp(`("${SECRET_HEADER}"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, "gi");

/**
 * The answer of the service without the secrets of gateways. ListWebhooks shows the headers of every
 * subscription of the distributor, also those of other gateways, and with a gateway's secret anybody can send
 * it deliveries.
 */
export function hideSecrets(responseJson: string): string {
  return responseJson.replace(SHOWN, '$1"(hidden)"');
}

/**
 * Their headers and URLs carry secrets, and refusals quote them: only the calls and their codes are recorded.
 */
const withheld: ReadonlySet<string> = new Set(["CreateWebhook", "ListWebhooks"]);

export interface CallsParts {
  readonly session: Session;
  readonly channel: Pick<CommandChannel, "acquire">;
  readonly http: Http;
  /** Ends every call when the gateway stops. */
  readonly signal: AbortSignal;
  /** Records calls and answers; absent: they are not recorded. */
  readonly tap?: RecorderTap;
}

/** How long a call waits for a connection or a token before it is given up unsent: a late call acts late. */
const LONGEST_WAIT_MS = 2_000;

const alone: CallOrder = { isStop: false, mayLeave: () => true };
const overtaken: CallEnding = {
  kind: "not_sent",
  message: "a stop of the same robot overtook it before it left",
  byStop: true,
};

/**
 * Sends operations to the service: each once, over gRPC or HTTPS. The one exception follows UNAUTHENTICATED,
 * an explicit refusal: the call is made again with a new token, if that comes soon. All of it is over within
 * the deadline.
 */
export function createCalls(options: FleetOptions, parts: CallsParts): FleetPort {
  const { session, channel, http, signal } = parts;
  const tap = createCallTap(parts.tap ?? noTap);

  async function send(
    method: Method,
    request: Message,
    jwt: string,
    time: Time,
    order: CallOrder,
  ): Promise<CallEnding> {
    if (!order.mayLeave()) return overtaken;
    let isOvertaken = false;
    let record: (ending: CallEnding) => void = () => {};
    /** Called in the very moment in which it would leave. */
    const leaves = () => {
      isOvertaken = !order.mayLeave();
      if (isOvertaken) return false;
      order.leaves?.();
      record = tap.left(method, request);
      return true;
    };
    if (!method.hasGrpc || options.transport === "rest") {
      const times = { deadlineMs: time.leftMs(), leaveWithinMs: time.toLeaveMs() };
      const ending = await callHttp(http, options.httpsUrl, method, request, jwt, leaves, times, signal);
      record(ending);
      return isOvertaken ? overtaken : ending;
    }
    const permit = await channel.acquire(order, Math.min(LONGEST_WAIT_MS, time.toLeaveMs()));
    if (typeof permit === "string") return { kind: "not_sent", message: permit };
    let fate: CallFate = "unanswered";
    try {
      if (!leaves()) return overtaken;
      const ending = await callGrpc(permit.client, options.serviceName, method, request, jwt, time.leftMs());
      fate = fateOf(ending, method.reads);
      record(ending);
      return ending;
    } finally {
      permit.release(fate);
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
      // A call that may no longer leave stays refused, as the service said.
      const isOver = other === null || time.toLeaveMs() <= 0 || (order.isStop && !order.mayLeave());
      return isOver ? ending : send(method, request, other, time, order);
    },
  };
}

/** A read may arrive as late as it likes. */
function fateOf(ending: CallEnding, reads: boolean): CallFate {
  if (ending.kind === "not_sent") return "unanswered";
  if (!isUnanswered(ending)) return "answered";
  return reads ? "unanswered" : "late";
}

/** The remaining time of a call, in real milliseconds: connections know no other. */
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

export interface CommandPortParts {
  readonly identifiers: IdentifierGate;
  /** Keeps maps from answers; null: nothing may be kept on disk. */
  readonly maps: Pick<MapCache, "settle"> | null;
  /** A task chain was made: follow it from now on. */
  readonly follow: (chainId: number) => void;
}

/** The port of the dispatcher: the service's answers without the secrets in them. */
export function createCommandPort(
  calls: FleetPort,
  { identifiers, maps, follow }: CommandPortParts,
): FleetPort {
  return {
    async call(request, deadlineMs, leaveWithinMs, order) {
      const answered = await calls.call(request, deadlineMs, leaveWithinMs, order);
      const ending = withNamedMissions(answered, identifiers);
      const { method, message } = openRequest(request) ?? {};
      if (maps !== null && isMessage(message, GetMapRequestSchema)) return maps.settle(message.mapId, ending);
      if (ending.kind !== "ok") return ending;
      if (method?.name === "AddTaskChain") {
        const chainId = chainIdOf(ending.responseJson);
        if (identifiers.number("task_chain_id", chainId)) follow(chainId);
      }
      // Also if this gateway has no webhooks: another gateway of the distributor may have them.
      if (method === undefined || !withheld.has(method.name)) return ending;
      return { ...ending, responseJson: hideSecrets(ending.responseJson) };
    },
  };
}

/** The command is done, whatever its answer says: only invalid ids are left out. */
function withNamedMissions(ending: CallEnding, identifiers: IdentifierGate): CallEnding {
  if (ending.kind !== "ok" || ending.missionId === null) return ending;
  const missionIds = (ending.missionIds ?? [ending.missionId]).filter((id) =>
    identifiers.text("mission_id", id),
  );
  return { ...ending, missionIds, missionId: missionIds[0] ?? null };
}

function chainIdOf(responseJson: string): number {
  const answer = JSON.parse(responseJson) as { readonly task_chain_id: number };
  return answer.task_chain_id;
}

/** Records calls and their endings. */
interface CallTap {
  /** A request leaves now. The result records its ending. */
  left(method: Method, request: Message): (ending: CallEnding) => void;
}

function createCallTap(tap: RecorderTap): CallTap {
  let calls = 0;
  return {
    left({ name, desc }, request) {
      if (!tap.isOn) return () => {};
      calls += 1;
      const id = calls;
      const isWithheld = withheld.has(name);
      tap.write("call", { name, id, ...(isWithheld ? {} : { first: toBinary(desc.input, request) }) });
      return (ending) => {
        if (ending.kind === "not_sent") return;
        const isOk = ending.kind === "ok";
        const code = isOk ? 0 : grpcCodeNames.indexOf(ending.code);
        const text = isOk ? ending.responseJson : ending.message;
        const second = Buffer.from(isWithheld ? "" : text);
        tap.write("answer", { name, id, code, second });
      };
    },
  };
}
