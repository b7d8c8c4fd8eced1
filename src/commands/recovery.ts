import type { ParsedRequest } from "../contracts/operation.ts";
import { ending } from "../domain/outcome.ts";
import type { Composition } from "./composition.ts";
import { isWatchRule, type WatchBaseline } from "./evidence/watch.ts";
import { readRequest } from "./intake/request.ts";
import { createJob, type Job } from "./job.ts";
import type { JournalRecord } from "./journal/journal.ts";
import { reportProgress } from "./log/command-log.ts";
import { interrupted } from "./robot-queues/queue-runner.ts";

/** More commands than end while a disk takes an event. */
const MOST_PUBLISHED = 10_000;

/**
 * Ends the commands that an earlier run left without an outcome. None is sent: accepted ones have expired;
 * for sent ones evidence is sought, before anything else moves on their robots. Resolves when the expired
 * ones are recorded.
 */
export async function recoverCommands(room: Composition): Promise<void> {
  const unfinished = room.journal.unfinished();
  if (unfinished.length > 0) {
    room.log.info({ commands: unfinished.length }, "commands of an earlier run have no outcome yet");
  }
  const ends: Promise<void>[] = [];
  for (const entry of unfinished) {
    const job = jobOf(room, entry);
    room.running.set(job.id, job);
    if (entry.sentAtMs === null) {
      const message =
        "the gateway stopped before it was sent, and a later start sends nothing of an earlier one";
      ends.push(room.conclusion.conclude(job, ending("expired", "EXPIRED", message, true)));
    } else {
      reportProgress(room, job, "sent");
      seekEvidence(room, job, entry, entry.sentAtMs);
    }
  }
  await Promise.all(ends);
}

/** Publishes events again that the last run may have lost: a command's event has the same id each time. */
export function publishLostEvents({ journal, conclusion, eventsLostSinceMs, log }: Composition): void {
  if (eventsLostSinceMs === undefined || eventsLostSinceMs === null) return;
  const ended = journal.ended().filter(({ runningMs }) => runningMs >= eventsLostSinceMs);
  for (const { id } of ended.slice(-MOST_PUBLISHED)) {
    const record = journal.find(id);
    if (typeof record === "object") conclusion.publishAgain(record);
  }
  if (ended.length > 0) log.info({ commands: ended.length }, "events of commands are published again");
}

function seekEvidence(room: Composition, job: Job, entry: JournalRecord, sentAtMs: number): void {
  const { evidence, repeat } = job.request;
  if (isWatchRule(evidence) && job.robotId !== null && entry.baseline !== null) {
    room.search.watch(job.id, evidence, job.robotId, entry.baseline as WatchBaseline, sentAtMs);
  }
  room.runner.recover(job, interrupted(repeat.kind === "repeatable"), room.link.canSee);
}

function jobOf(room: Composition, entry: JournalRecord): Job {
  const { command, digest, queue, robotId } = entry;
  const job = createJob({
    command,
    digest,
    request: requestOf(room, entry),
    startByMonotonicMs: room.clock.monotonicMs(),
  });
  job.queue = queue;
  job.robotId = robotId;
  job.record = entry;
  job.sendings = entry.sentAtMs === null ? 0 : 1;
  job.stage = entry.sentAtMs === null ? "accepted" : "sent";
  return job;
}

/**
 * The request as it was sent. For an operation that this version does not know, no evidence can be sought.
 */
function requestOf({ catalogue }: Composition, { command, sentJson }: JournalRecord): ParsedRequest {
  const read = readRequest(catalogue, { operation: command.operation, request: { text: sentJson } });
  if ("request" in read) return read.request;
  return {
    json: sentJson,
    // Nothing that could be sent: no command of an earlier run is.
    payload: {},
    robotId: command.robotId,
    effect: command.effect,
    subject: { kind: "fleet" },
    repeat: { kind: "never" },
    evidence: { kind: "none" },
    identityField: null,
    conveyors: null,
    switches: [],
    destination: null,
  };
}
