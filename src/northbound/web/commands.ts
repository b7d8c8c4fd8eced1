import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Acts } from "../../contracts/acts.ts";
import type {
  Commander,
  CommandRecords,
  CommandRights,
  Envelope,
  Expiry,
} from "../../contracts/commander.ts";
import type { OperationManual } from "../../contracts/operation-manual.ts";
import { type CommandStage, type Effect, type Source, sourceKey } from "../../domain/command.ts";
import { quoted } from "../../domain/foreign-text.ts";
import { expiryDateFault, expiryTimeFault, isExpiryTime, type Outcome } from "../../domain/outcome.ts";
import { replyJson } from "../../models/reply.ts";
import { type Clock, dateTimeMs, noLaterThan } from "../../platform/clock.ts";
import { problemStatus, sendRefusal } from "./problem.ts";
import { readBody } from "./request-body.ts";
import { originOf, type SenderOf } from "./sender.ts";
import { allowSilence, streamOf } from "./two-protocols.ts";

/** What users may do, and how they do it. */
export interface WebCommands {
  readonly commander: Commander;
  readonly records: Pick<CommandRecords, "knows">;
  readonly acts: Acts;
  readonly rights: CommandRights;
  readonly catalogue: OperationManual;
}

interface CommandRouteParts extends Pick<WebCommands, "commander" | "records"> {
  readonly senderOf: SenderOf;
  readonly checkTick: CheckTick;
  readonly clock: Clock;
}

/** The stage of a command that is not final; `received` until it is recorded. */
type Stage = CommandStage | "received";

const BODY_BYTES = 256 * 1024;

/**
 * `PUT /api/v1/commands/{id}`. Answers 200 with the final outcome, 202 with the stage if the wait ends first,
 * and problem+json if the request never became a command. The same body again joins the command, or returns
 * its outcome.
 */
export function addCommandRoute(
  server: FastifyInstance,
  { commander, records, senderOf, checkTick, clock }: CommandRouteParts,
): { waiting(): number } {
  const waits = createWaits();

  /** The final outcome; null: the time is up, or the client has left. */
  async function outcomeWithin(
    envelope: Envelope,
    waitMs: number,
    { raw }: FastifyRequest,
    onStage: (stage: Stage) => void,
  ): Promise<Outcome | null> {
    const over = new AbortController();
    const end = () => over.abort();
    const isAnswered = allowSilence(raw, waitMs);
    // A response that waits behind others of its connection gets no event when the connection is closed.
    const client = streamOf(raw) ?? raw.socket;
    client.once("close", end);
    try {
      const outcome = commander.submit(envelope, over.signal, onStage).catch(() => null);
      return await noLaterThan(clock, waitMs, outcome, null);
    } finally {
      isAnswered();
      client.off("close", end);
      end();
    }
  }

  server.put<{ Params: { id: string } }>(
    "/api/v1/commands/:id",
    { bodyLimit: BODY_BYTES },
    async (request, reply) => {
      const { headers, body } = request;
      const { id } = request.params;
      const envelope = {
        ...readEnvelope(senderOf(request), id, body, checkTick),
        ...originOf(request),
      };
      const duplicate = records.knows(envelope.source, id);
      const preferred = waitSeconds(headers.prefer);
      const isStop = () => effectOf(commander, envelope) === "stops";
      const endWait = preferred === 0 ? null : waits.begin(envelope.source, isStop);
      // Waiting clients must not take all connections: a request beyond the bound is answered at once.
      const seconds = endWait === null ? 0 : preferred;
      let stage: Stage = "received";
      const onStage = (reached: Stage) => {
        stage = reached;
      };
      const outcome = await outcomeWithin(envelope, seconds * 1_000, request, onStage).finally(endWait);
      if (headers.prefer !== undefined) reply.header("preference-applied", `wait=${seconds}`);
      if (outcome === null) return reply.code(202).send({ id, stage, duplicate });
      const isCommand = stage !== "received" || outcome.duplicate;
      const status = isCommand ? undefined : problemStatus(outcome.code);
      if (status !== undefined) return sendRefusal(reply, status, outcome);
      return reply.type("application/json; charset=utf-8").send(replyJson(id, outcome));
    },
  );
  return { waiting: () => waits.count };
}

function effectOf(commander: Commander, { operation, request }: Envelope): Effect | null {
  const read = "json" in request ? commander.read(operation, request.json) : null;
  return read !== null && "effect" in read ? read.effect : null;
}

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

/** The requests of a listener that wait for an outcome: each takes a connection, or a stream of one. */
export interface Waits {
  /**
   * One more request waits, until the returned function is called. Null: too many wait. `isStop` is called
   * only if the usual places are taken.
   */
  begin(source: Source, isStop: () => boolean): (() => void) | null;
  readonly count: number;
}

const MOST = 96;
/** Less than the streams of one HTTP/2 connection. */
const MOST_OF_USER = 32;
/** Further places, of all users and of each. */
const KEPT_FOR_STOPS = 16;

export function createWaits(): Waits {
  const byUser = new Map<string, number>();
  let count = 0;
  return {
    begin(source, isStop) {
      const user = sourceKey(source);
      const ofUser = byUser.get(user) ?? 0;
      const hasRoom = (more: number) => count < MOST + more && ofUser < MOST_OF_USER + more;
      if (!hasRoom(0) && !(hasRoom(KEPT_FOR_STOPS) && isStop())) return null;
      count += 1;
      byUser.set(user, ofUser + 1);
      return () => {
        count -= 1;
        const left = (byUser.get(user) ?? 1) - 1;
        if (left > 0) byUser.set(user, left);
        else byUser.delete(user);
      };
    },
    get count() {
      return count;
    },
  };
}

const fields = ["operation", "request", "expires_at", "expires_in_ms", "tick", "asked_by"] as const;

/** Checks the times of a command. */
export type CheckTick = (tick: string | null, hasExpiry: boolean) => Pick<Expiry, "lacks" | "late">;

/** Reads `{"operation","request":{…},"expires_at"?,"expires_in_ms"?,"tick"?,"asked_by"?}`. */
function readEnvelope(
  [source, wrongSender]: ReturnType<SenderOf>,
  requestId: string,
  bytes: unknown,
  checkTick: CheckTick,
): Envelope {
  const read = readBody(bytes, fields);
  const value = (name: (typeof fields)[number]) =>
    read.ok && Object.hasOwn(read.object, name) ? read.object[name] : undefined;
  const [operation, expiresAt] = [value("operation"), value("expires_at")];
  const [withinMs, tick = null] = [value("expires_in_ms"), value("tick")];
  const atMs = expiresAt === undefined ? null : dateTimeMs(expiresAt);
  const envelope = { source, requestId, operation: typeof operation === "string" ? operation : "" };
  const unreadable = (problem: string): Envelope => ({ ...envelope, request: { unreadable: problem } });
  if (wrongSender !== null) return unreadable(wrongSender);
  if (!read.ok) return unreadable(read.reason);
  if (typeof operation !== "string") return unreadable("operation: must be the name of one");
  if (expiresAt !== undefined && atMs === null) return unreadable(expiryDateFault);
  if (withinMs !== undefined && !isExpiryTime(withinMs)) return unreadable(expiryTimeFault);
  if (tick !== null && typeof tick !== "string") return unreadable("tick: must be the id of a tick, as text");
  const askedBy = value("asked_by");
  // Another user may have logged in with this browser: then it would be another command.
  if (askedBy !== undefined && askedBy !== source.name)
    return unreadable(`asked_by: this log-in is ${quoted(source.name)}; log in as the user who asks`);
  const faults = checkTick(tick, atMs !== null || withinMs !== undefined);
  const expiry = { atMs, withinMs: withinMs ?? null, ...faults };
  return { ...envelope, request: { json: value("request") }, expiry };
}
