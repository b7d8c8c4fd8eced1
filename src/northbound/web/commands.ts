import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Commander, CommandRecords, Envelope } from "../../contracts/commander.ts";
import type { CommandStage, Effect } from "../../domain/command.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { replyJson } from "../../models/reply.ts";
import type { Clock } from "../../platform/clock.ts";
import { noLaterThan } from "../../platform/no-later-than.ts";
import { type CheckTick, readEnvelope } from "./command-envelope.ts";
import { waitSeconds } from "./prefer.ts";
import { problemStatus, sendRefusal } from "./problem.ts";
import { originOf, type SenderOf } from "./sender.ts";
import { allowSilence, streamOf } from "./silence.ts";
import { createWaits } from "./waits.ts";

export interface CommandRouteParts {
  readonly commander: Commander;
  readonly records: Pick<CommandRecords, "knows">;
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
export function addCommandRoute(server: FastifyInstance, parts: CommandRouteParts): { waiting(): number } {
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
      const outcome = parts.commander.submit(envelope, over.signal, onStage).catch(() => null);
      return await noLaterThan(parts.clock, waitMs, outcome, null);
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
        ...readEnvelope(parts.senderOf(request), id, body, parts.checkTick),
        ...originOf(request),
      };
      const duplicate = parts.records.knows(envelope.source, id);
      const preferred = waitSeconds(headers.prefer);
      const isStop = () => effectOf(parts.commander, envelope) === "stops";
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
