import type { CommandLedger, CommandRecords } from "../../contracts/commander.ts";
import { commandId } from "../../domain/command.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Job, watchStages } from "../job.ts";
import type { WatchedJournal } from "../journal/watched-journal.ts";
import { unreadable } from "../own-refusals.ts";
import { type AuditSink, refusedRecord } from "./audit.ts";

export interface LedgerParts {
  /** The commands in hand, by identity. */
  readonly running: ReadonlyMap<string, Job>;
  readonly journal: Pick<WatchedJournal, "find" | "isClosed">;
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
      // Of a closed journal nobody knows: that it was never sent must be said of no command.
      return running.has(id) || journal.isClosed() || Boolean(journal.find(id)?.outcome);
    },
    refused: (request, outcome) => audit(refusedRecord(request, clock.nowMs(), outcome)),
    async recall(source, requestId, onStage) {
      const id = commandId({ source, requestId });
      const current = running.get(id);
      if (current !== undefined) {
        if (onStage !== undefined) watchStages(current, onStage);
        return { ...(await current.done), duplicate: true };
      }
      if (journal.isClosed()) return unreadable();
      const outcome = journal.find(id)?.outcome;
      return outcome ? { ...outcome, duplicate: true } : null;
    },
  };
}
