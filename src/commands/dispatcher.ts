import type { CommandRecords, CommandRights } from "../contracts/commander.ts";
import type { ReloadRefusal } from "../contracts/reload.ts";
import type { Stage } from "../contracts/stage.ts";
import type { Source } from "../domain/command.ts";
import { every, sleep } from "../platform/clock.ts";
import { aborted, type Health } from "../platform/component.ts";
import { createKnownCommands } from "./acceptance.ts";
import { createAttributionStage } from "./attribution/attribution.ts";
import { recordMissing } from "./audit/missing-records.ts";
import { type Composition, composeCommands } from "./composition.ts";
import type { HoldControl } from "./holds/hold-control.ts";
import type { Execution } from "./intake/execution.ts";
import { isOwnStop } from "./intake-checks.ts";
import { pruneJournal } from "./journal/durable-journal.ts";
import type { LeaseControl } from "./leases/lease-control.ts";
import type { StationOptions } from "./options.ts";
import { shuttingDown } from "./own-refusals.ts";
import type { DispatcherParts } from "./parts.ts";
import type { PermitControl } from "./permits/permit-control.ts";
import { publishLostEvents, recoverCommands } from "./recovery.ts";
import { commandRights } from "./rights.ts";
import { interrupted } from "./robot-queues/queue-runner.ts";

/** Takes every command, and sends it at most once (docs/commands.md, The promise). */
export interface Dispatcher extends Execution, CommandRecords {
  /** Ends the commands that an earlier run has left. Await it before the first command. */
  start(): Promise<void>;
  /** The rights to robots and stations. */
  readonly rights: CommandRights;
  /** The leases of stations. */
  readonly stations: LeaseControl;
  readonly holds: HoldControl;
  readonly permits: PermitControl;
  /** It drains, or is closed: nothing may be changed. */
  isStopping(): boolean;
  /** This machine's wall clock is known to be right at this moment. */
  confirmClock(aheadMs: number): void;
  /**
   * Whether there is a session to the service. From the first session on, evidence is sought for commands of
   * an earlier run.
   */
  fleetLink(isUp: boolean): void;
  /** Reads the messages of robots, for evidence and for names, and attributes their events. */
  readonly stage: Stage;
  /**
   * Rights or stations have changed: ends leases, and takes permits, of users that may no longer have them.
   * `isGone`: users that no longer exist. Accepted commands stay accepted, and holds stay.
   */
  reviewRights(isGone: (source: Source) => boolean): void;
  /** Why the stations of the configuration cannot become `next` now, by key. Changes nothing. */
  refusedStations(next: readonly StationOptions[]): readonly ReloadRefusal[];
  health(): Health;
  /**
   * Refuses new commands and those that were not sent, waits at most `deadlineMs` for the others, and ends
   * those as unknown. Outcomes of earlier commands are available until the journal is closed.
   */
  drain(deadlineMs: number): Promise<void>;
  /** The same, unless it is drained already; then closes the journal. */
  close(deadlineMs: number): Promise<void>;
}

const LOOK_PERIOD_MS = 1_000;
const DRAIN_LOOK_MS = 100;

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const room = composeCommands(parts);
  const { conveyors, holds, leases, permits } = room;
  let drained: Promise<void> | null = null;
  const drain = (deadlineMs: number) => {
    drained ??= shutDown(room, deadlineMs);
    return drained;
  };
  return {
    begin: room.begin,
    check: room.check,
    refuse: room.conclusion.refuse,
    reported: room.conclusion.reported,
    ...createKnownCommands(room),
    start: () => start(room),
    rights: commandRights(room.rights, parts.stations),
    stations: leases,
    holds,
    permits,
    isStopping: () => room.stopping.signal.aborted,
    confirmClock: room.wall.confirm,
    fleetLink(isUp) {
      room.link.set(isUp);
      if (isUp) conveyors.linkUp();
    },
    stage: createAttributionStage(room.attribution, [room.observations, conveyors, holds, permits]),
    reviewRights(isGone) {
      leases.review(isGone);
      permits.review(isGone);
    },
    refusedStations: leases.refusedStations,
    health: () => healthOf(room),
    drain,
    async close(deadlineMs) {
      await drain(deadlineMs);
      // A robot may have shown meanwhile that its conveyor stands.
      await conveyors.settled();
      await room.journal.close();
    },
  };
}

async function start(room: Composition): Promise<void> {
  const { auditLines, journal, conveyors, holds, leases, attribution } = room;
  // First, so that the audit log is in the order of events.
  if (auditLines !== undefined) await recordMissing({ ...room, auditLines });
  holds.resume(journal.holds());
  conveyors.resume(journal.runs());
  leases.resume(journal.leases());
  for (const { missionId, command } of journal.made()) attribution.claim(missionId, command);
  room.link.start();
  publishLostEvents(room);
  await recoverCommands(room);
  for (const job of room.running.values()) conveyors.recovered(job);
  room.permits.start();
  every(room.clock, LOOK_PERIOD_MS, room.stopping.signal, () => {
    leases.tick();
    conveyors.tick();
    holds.tick();
    room.permits.tick();
    attribution.evaluate();
    room.foreign.tick();
  });
  pruneJournal({ ...room, signal: room.stopping.signal });
}

function healthOf(room: Composition): Health {
  const { queues, waiting } = room.runner.figures();
  const figures = {
    inHand: room.running.size,
    robotQueues: queues,
    waiting,
    leases: room.leases.count(),
    ...room.conveyors.figures(),
    ...room.holds.figures(),
    permitsMissing: room.permits.missing(),
    foreignMissions: room.attribution.foreignMissions(),
    foreignAlarms: room.foreign.count(),
    ...room.journal.figures(),
    ...room.conclusion.counts(),
  };
  if (room.stopping.signal.aborted) return { state: "down", figures };
  const problems = [
    ...(room.journal.isWritable()
      ? []
      : ["the journal cannot be written: nothing that moves or changes is sent, stops pass"]),
    ...(room.journal.isDamaged()
      ? [
          "a record of the journal is damaged: its command ends unknown, and the next start puts the journal aside",
        ]
      : []),
  ];
  if (problems.length === 0) return { state: "up", figures };
  return { state: "degraded", detail: problems.join("; "), figures };
}

/**
 * Refuses commands that were not sent, stops the watched conveyors, waits at most `deadlineMs` for the
 * others, and ends those as unknown.
 */
async function shutDown(room: Composition, deadlineMs: number): Promise<void> {
  const { running, runner } = room;
  room.stopping.abort();
  for (const job of running.values()) if (!isOwnStop(job)) runner.withdraw(job, shuttingDown());
  room.conveyors.shutDown();
  await drained(room, deadlineMs);
  for (const job of running.values()) {
    const isQueued = runner.abandon(job, interrupted(job.request.repeat.kind === "repeatable"));
    if (!isQueued) void room.conclusion.conclude(job, shuttingDown());
  }
  await allDone(running);
  await room.conveyors.settled();
  await room.leases.settled();
  await room.holds.settled();
}

async function allDone(running: Composition["running"]): Promise<void> {
  await Promise.all(Array.from(running.values(), (job) => job.done));
}

/**
 * Resolves when no command is in hand and each conveyor was stopped that had to be, or when the time is up.
 */
async function drained({ running, conveyors, clock }: Composition, deadlineMs: number): Promise<void> {
  const over = new AbortController();
  const cancel = clock.after(deadlineMs, () => over.abort());
  every(clock, LOOK_PERIOD_MS, over.signal, conveyors.tick);
  while (!over.signal.aborted) {
    await Promise.race([allDone(running), aborted(over.signal)]);
    if (running.size === 0 && !conveyors.isOwing()) break;
    await sleep(clock, DRAIN_LOOK_MS, over.signal);
  }
  cancel();
  over.abort();
}
