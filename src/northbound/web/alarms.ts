import type { FastifyInstance } from "fastify";
import type { Alarms } from "../../contracts/alarms.ts";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { Alarm } from "../../domain/alarm.ts";
import { holderName } from "../../domain/hold.ts";
import { refusal } from "../../domain/outcome.ts";
import { alarmOf } from "../../models/alarm.ts";
import { problemStatus, sendProblem, sendRefusal } from "./problem.ts";
import { type Query, sendPage, unknownParameter } from "./resources/list-page.ts";
import { reverseOrderKey } from "./resources/order-key.ts";
import { originOf, type SenderOf } from "./sender.ts";

export interface AlarmRouteParts {
  readonly audit: RefusalAudit;
  readonly alarms: Pick<Alarms, "acknowledge" | "storeProblem">;
  readonly standingAlarms: () => readonly Alarm[];
  readonly senderOf: SenderOf;
}

interface AlarmRoute {
  readonly Params: { readonly id: string };
}

/**
 * `GET /api/v1/alarms` answers 200 with all alarms, the most urgent first. `PUT
 * /api/v1/alarms/{id}/acknowledgement` needs no body, may be repeated, and answers 200 with the user that has
 * acknowledged it, and a message if that is not on the disk yet. A refusal is problem+json.
 */
export function addAlarmRoutes(server: FastifyInstance, parts: AlarmRouteParts): void {
  const { alarms, standingAlarms, audit, senderOf } = parts;
  const find = (id: string) => standingAlarms().find((alarm) => alarm.id === id);

  server.get<{ Querystring: Query }>("/api/v1/alarms", async ({ query }, reply) => {
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
    const items = standingAlarms().toSorted((a, b) => (urgencyKey(a) < urgencyKey(b) ? -1 : 1));
    return sendPage(reply, query, { name: "alarms", items, keyOf: urgencyKey, write: alarmOf });
  });

  server.put<AlarmRoute>("/api/v1/alarms/:id/acknowledgement", async (request, reply) => {
    const { params } = request;
    const [source, wrongSender] = senderOf(request);
    const before = find(params.id);
    const refused =
      wrongSender === null
        ? alarms.acknowledge({ source, alarmId: params.id })
        : refusal("MALFORMED", wrongSender);
    if (refused === null) {
      // If the alarm is over now, this user has acknowledged it.
      const by = before?.acknowledged?.by ?? source;
      const message = (await alarms.storeProblem()) ?? "";
      return reply.send({ id: params.id, acknowledged_by: holderName(by), message });
    }
    const robotId = before?.source.kind === "robot" ? before.source.robotId : null;
    audit.refused(
      { source, requestId: null, operation: "alarm/ack", robotId, ...originOf(request) },
      refused,
    );
    const isMissing = wrongSender === null && refused.code === "MALFORMED";
    return sendRefusal(reply, isMissing ? 404 : (problemStatus(refused.code) ?? 409), refused);
  });
}

/** The most urgent first, in the order of `byUrgency`. */
function urgencyKey({ severity, sinceMs, id }: Alarm): string {
  return `${reverseOrderKey(severity)}${reverseOrderKey(sinceMs)}${id}`;
}
