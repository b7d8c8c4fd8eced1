import type { CommandLedger, CommandRecords } from "../../../contracts/commander.ts";
import { commandId } from "../../../domain/command.ts";
import type { Clock } from "../../../platform/clock.ts";
import { type Job, watchStages } from "../job.ts";
import type { Journal } from "../journal/journal.ts";
import { type AuditSink, refusedRecord } from "./audit.ts";

export interface LedgerParts {
  /** The commands in hand, by identity. */
  readonly running: ReadonlyMap<string, Job>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly audit: AuditSink;
}

/** What is known of commands beside their way: asked by doors, and told by them. */
export function createLedger({
  running,
  journal,
  clock,
  audit,
}: LedgerParts): CommandLedger & CommandRecords {
  return {
    knows(source, requestId) {
      const id = commandId({ source, requestId });
      return running.has(id) || Boolean(journal.find(id)?.outcome);
    },
    refused: (request, outcome) => audit(refusedRecord(request, clock.nowMs(), outcome)),
    async recall(source, requestId, onStage) {
      const id = commandId({ source, requestId });
      const current = running.get(id);
      if (current !== undefined) {
        if (onStage !== undefined) watchStages(current, onStage);
        return { ...(await current.done), duplicate: true };
      }
      const outcome = journal.find(id)?.outcome;
      return outcome ? { ...outcome, duplicate: true } : null;
    },
  };
}
