import type { CommandRecords } from "../contracts/commander.ts";
import { commandId } from "../domain/command.ts";
import type { Execution, KnownCommand } from "./intake/execution.ts";
import { type Job, watchStages } from "./job.ts";
import type { WatchedJournal } from "./journal/watched-journal.ts";
import { damaged, unreadable, unrecorded } from "./own-refusals.ts";

/** What is known of commands by their identity: in hand, or recorded. */
export function createKnownCommands(
  running: ReadonlyMap<string, Job>,
  journal: Pick<WatchedJournal, "find" | "isClosed">,
): CommandRecords & Pick<Execution, "find" | "isClosed"> {
  function inHand(id: string): KnownCommand | null {
    const job = running.get(id);
    if (job === undefined) return null;
    return {
      digest: job.digest,
      outcome(onStage) {
        if (onStage !== undefined) watchStages(job, onStage);
        return job.done.then((outcome) => ({ ...outcome, duplicate: true }));
      },
    };
  }

  function recorded(id: string): KnownCommand | null {
    const record = journal.find(id);
    if (record === undefined) return null;
    if (record === "damaged") return { digest: null, outcome: () => Promise.resolve(damaged()) };
    const outcome = { ...(record.outcome ?? unrecorded()), duplicate: true };
    return { digest: record.digest, outcome: () => Promise.resolve(outcome) };
  }

  return {
    find: (id) => inHand(id) ?? recorded(id),
    knows(source, requestId) {
      const id = commandId({ source, requestId });
      return running.has(id) || (!journal.isClosed() && journal.find(id) !== undefined);
    },
    isClosed: journal.isClosed,
    async recall(source, requestId, onStage) {
      const id = commandId({ source, requestId });
      const current = inHand(id);
      if (current !== null) return current.outcome(onStage);
      return journal.isClosed() ? unreadable() : (recorded(id)?.outcome() ?? null);
    },
  };
}
