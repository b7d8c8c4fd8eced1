import type { LoggedCommand } from "../../../contracts/command-log.ts";
import { holderName } from "../../../domain/hold.ts";
import { outcomeMeanings } from "../../../domain/outcome.ts";
import { isoTime } from "../../../models/json-text.ts";
import type { Command } from "../api/command.ts";

/** A command of the log as the API shows it. */
export function commandJson(command: LoggedCommand, nowMs: number): Command {
  const { source, onBehalfOf, acceptedAtMs, sentAtMs, finalAtMs, ending } = command;
  const lastMs = finalAtMs ?? sentAtMs ?? acceptedAtMs ?? nowMs;
  return {
    number: command.number,
    protocol: source.protocol,
    user: source.name,
    request_id: command.requestId,
    operation: command.operation,
    robot_id: command.robotId,
    request: command.requestJson,
    on_behalf_of: onBehalfOf === null ? null : holderName(onBehalfOf),
    stage: finalAtMs !== null ? "final" : sentAtMs !== null ? "sent" : "accepted",
    accepted_at: isoTime(acceptedAtMs),
    sent_at: isoTime(sentAtMs),
    final_at: isoTime(finalAtMs),
    age_ms: Math.max(0, Math.round(nowMs - lastMs)),
    outcome: ending?.outcome ?? null,
    code: ending?.code ?? null,
    message: ending?.message ?? null,
    meaning: meaningOf(ending?.outcome ?? (sentAtMs === null ? "accepted" : "sent")),
    mission_id: ending?.missionId ?? null,
    evidence: ending?.evidence ?? null,
    found_later: command.foundLater,
  };
}

/** The audit log of another version may have an outcome that this version does not know. */
function meaningOf(name: string): string | null {
  const meaning: unknown = Reflect.get(outcomeMeanings, name);
  return typeof meaning === "string" ? meaning : null;
}
