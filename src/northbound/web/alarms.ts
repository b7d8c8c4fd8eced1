import type { FastifyInstance } from "fastify";
import type { Alarms } from "../../contracts/alarms.ts";
import type { RefusalAudit } from "../../contracts/commander.ts";
import { type Alarm, byUrgency } from "../../domain/alarm.ts";
import { alarmJson } from "../../domain/alarm-json.ts";
import { holderName } from "../../domain/hold.ts";
import { refusal } from "../../domain/outcome.ts";
import { problemStatus, sendRefusal } from "./problem.ts";
import { senderOf } from "./sender.ts";

export interface AlarmRouteParts {
  readonly audit: RefusalAudit;
  readonly alarms: Pick<Alarms, "acknowledge">;
  readonly standingAlarms: () => readonly Alarm[];
}

interface AlarmRoute {
  readonly Params: { readonly id: string };
}

/**
 * `GET /api/v1/alarms` answers 200 with all that stand, the most urgent first.
 * `PUT /api/v1/alarms/{id}/acknowledgement` needs no body, may be repeated, and answers 200 with the user
 * that has acknowledged it. A refusal is problem+json.
 */
export function addAlarmRoutes(server: FastifyInstance, parts: AlarmRouteParts): void {
  const { alarms, standingAlarms, audit } = parts;
  const find = (id: string) => standingAlarms().find((alarm) => alarm.id === id);

  server.get("/api/v1/alarms", async (_request, reply) => {
    const standing = [...standingAlarms()].sort(byUrgency);
    return reply.send({ count: standing.length, alarms: standing.map(alarmJson) });
  });

  server.put<AlarmRoute>("/api/v1/alarms/:id/acknowledgement", async ({ headers, params }, reply) => {
    const [source, wrongSender] = senderOf(headers);
    const before = find(params.id);
    const refused =
      wrongSender === null
        ? alarms.acknowledge({ source, alarmId: params.id })
        : refusal("MALFORMED", wrongSender);
    if (refused === null) {
      // It may be over now: then it was this user.
      const by = before?.acknowledged?.by ?? source;
      return reply.send({ id: params.id, acknowledged_by: holderName(by) });
    }
    const robotId = before?.source.kind === "robot" ? before.source.robotId : null;
    audit.refused({ source, requestId: null, operation: "alarm/ack", robotId }, refused);
    const isMissing = wrongSender === null && refused.code === "MALFORMED";
    return sendRefusal(reply, isMissing ? 404 : (problemStatus(refused.code) ?? 409), refused);
  });
}
