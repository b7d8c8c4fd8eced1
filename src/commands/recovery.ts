import type { Catalogue, ParsedRequest } from "../contracts/operation.ts";
import { ending } from "../domain/outcome.ts";
import type { Log } from "../platform/log.ts";
import type { Composition } from "./composition.ts";
import { isWatchRule, type WatchBaseline } from "./evidence/watch.ts";
import { readRequest } from "./intake/request.ts";
import { createJob, type Job } from "./job.ts";
import type { JournalRecord } from "./journal/journal.ts";
import type { Shared } from "./parts.ts";
import { interrupted } from "./robot-queues/queue-runner.ts";

/** More commands than end while a disk takes an event. */
const MOST_PUBLISHED = 10_000;

/**
 * Ends the commands that an earlier run left without an outcome. None is sent: accepted ones have expired;
 * for sent ones evidence is sought, before anything else moves on their robots. Resolves when the expired
 * ones are recorded.
 */
export async function recoverCommands(
  { journal, running, report, conclusion, evidence, runner, link, ownStops, shared }: Composition,
  { catalogue, clock, log }: Pick<Shared, "catalogue" | "clock" | "log">,
): Promise<void> {
  function seekEvidence(job: Job, baseline: unknown, sentAtMs: number): void {
    const { evidence: rule, repeat } = job.request;
    if (isWatchRule(rule) && job.robotId !== null && baseline !== null) {
      evidence.search.watch(job.id, rule, job.robotId, baseline as WatchBaseline, sentAtMs);
    }
    runner.recover(job, interrupted(repeat.kind === "repeatable"), link.canSee, shared?.doubtMs ?? 0);
  }

  /** A stop that came after it is sent now, and again when the call cannot arrive any more. */
  function oweStop(job: Job): void {
    const { id, robotId, request } = job;
    if (robotId === null || request.effect !== "moves") return;
    const stop = shared?.stopAfter(id, robotId) ?? null;
    if (stop === null) return;
    void ownStops.repeat(stop);
    job.stopsOwed.push(stop);
  }

  const unfinished = journal.unfinished();
  if (unfinished.length > 0) {
    log.info({ commands: unfinished.length }, "commands of an earlier run have no outcome yet");
  }
  const ends: Promise<void>[] = [];
  for (const entry of unfinished) {
    const job = jobOf(entry, requestOf(catalogue, entry), clock.monotonicMs());
    running.set(job.id, job);
    if (entry.sentAtMs === null) {
      const message =
        "the gateway stopped before it was sent, and a later start sends nothing of an earlier one";
      ends.push(conclusion.conclude(job, ending("expired", "EXPIRED", message, true)));
    } else {
      report.reached(job, "sent");
      oweStop(job);
      seekEvidence(job, entry.baseline, entry.sentAtMs);
    }
  }
  await Promise.all(ends);
}

/**
 * Publishes events again that the last run may have lost: a command's event has the same id each time.
 *
 * @param sinceMs since when, in running time; null: none was lost
 */
export function publishLostEvents(
  { journal, report }: Pick<Composition, "journal" | "report">,
  sinceMs: number | null,
  log: Log,
): void {
  if (sinceMs === null) return;
  const ended = journal.ended().filter(({ runningMs }) => runningMs >= sinceMs);
  for (const { id } of ended.slice(-MOST_PUBLISHED)) {
    const record = journal.find(id);
    if (typeof record === "object") report.publishAgain(record);
  }
  if (ended.length > 0) log.info({ commands: ended.length }, "events of commands are published again");
}

function jobOf(entry: JournalRecord, request: ParsedRequest, startByMonotonicMs: number): Job {
  const { command, digest, queue, robotId } = entry;
  const job = createJob({ command, digest, request, startByMonotonicMs });
  job.queue = queue;
  job.robotId = robotId;
  job.record = entry;
  job.sendings = entry.sentAtMs === null ? 0 : 1;
  job.sentAtMs = entry.sentAtMs;
  job.stage = entry.sentAtMs === null ? "accepted" : "sent";
  return job;
}

/**
 * The request as it was sent. For an operation that this version does not know, no evidence can be sought.
 */
function requestOf(catalogue: Catalogue, { command, sentJson }: JournalRecord): ParsedRequest {
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
