import type { CommandStage } from "../../domain/command.ts";
import { shownRequest } from "../audit/audit.ts";
import type { Job } from "../job.ts";
import type { Shared } from "../parts.ts";

export type ProgressParts = Pick<Shared, "catalogue" | "clock" | "progress">;

/** Reports the stage that a command has reached to the log of commands. */
export function reportProgress(
  { catalogue, clock, progress }: ProgressParts,
  job: Job,
  stage: CommandStage,
): void {
  if (progress === undefined) return;
  const { command, robotId, record } = job;
  const { source, requestId, operation, onBehalfOf } = command;
  const sentAtMs = stage === "sent" ? (record?.sentAtMs ?? clock.nowMs()) : null;
  progress.reached({
    source,
    requestId,
    operation,
    robotId,
    requestJson: shownRequest(catalogue, command, { code: "OK" }) || null,
    onBehalfOf: onBehalfOf?.owner ?? null,
    acceptedAtMs: record?.acceptedAtMs ?? (stage === "accepted" ? clock.nowMs() : null),
    sentAtMs,
  });
}
