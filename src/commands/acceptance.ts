import type { Catalogue } from "../contracts/operation.ts";
import { type Command, type CommandStage, commandId } from "../domain/command.ts";
import { type Outcome, refusal } from "../domain/outcome.ts";
import { identityReused } from "../domain/refusals.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { SteadyWall } from "../platform/steady-wall.ts";
import {
  type AdmissionParts,
  findQueue,
  identified,
  startByMonotonic,
  timeToLeaveMs,
  type Understood,
  understand,
} from "./admission.ts";
import type { Conclusion } from "./conclusion.ts";
import { createJob, digestOf, type Job, watchStages } from "./job.ts";
import type { WatchedJournal } from "./journal/watched-journal.ts";
import { closed, fault, shuttingDown, unrecorded } from "./own-refusals.ts";
import { gatewaySource } from "./own-stops.ts";
import { type Rights, refusedRight, rightsAnywhere } from "./rights.ts";
import type { QueueRunner } from "./robot-queues/queue-runner.ts";

export interface AcceptanceParts {
  readonly catalogue: Catalogue;
  readonly journal: Pick<WatchedJournal, "find" | "isClosed">;
  readonly clock: Clock;
  readonly log: Log;
  readonly wall: SteadyWall;
  readonly rights: Rights;
  /** The commands in hand, by identity. */
  readonly running: Map<string, Job>;
  readonly maxCommands: number;
  readonly checks: AdmissionParts;
  readonly conclusion: Conclusion;
  readonly runner: Pick<QueueRunner, "submit" | "withdraw">;
  readonly isStopping: () => boolean;
  /** Why a command must not leave now; null when it may. */
  readonly whyNotNow: (job: Job) => Outcome | null;
}

/** Takes a command: a known identity gets its outcome, a new one goes to the queue of its robot. */
export type Accept = (command: Command, onStage?: (stage: CommandStage) => void) => Promise<Outcome>;

/** What an identity means at this moment. */
type Identity =
  | { readonly kind: "refused"; readonly outcome: Outcome }
  | { readonly kind: "in_hand"; readonly job: Job }
  | { readonly kind: "recorded"; readonly outcome: Outcome }
  | { readonly kind: "new" };

export function createAcceptance(parts: AcceptanceParts): Accept {
  const { clock, running, conclusion } = parts;
  const refusedFor = createRightCheck(parts.rights);

  /** Rights, queue and truth; then the queue decides. */
  async function admit(job: Job, understood: Understood): Promise<Outcome | null> {
    const refusedAnywhere = refusedFor(job, understood, null);
    if (refusedAnywhere !== null) return refusedAnywhere;
    const found = await findQueue(parts.checks, job.request);
    if ("outcome" in found) return found;
    job.queue = found.queue;
    job.robotId = found.robotId;
    const refused = refusedFor(job, understood, found) ?? parts.whyNotNow(job);
    if (refused !== null) return refused;
    armExpiry(job);
    parts.runner.submit(job);
    return null;
  }

  async function start(job: Job, understood: Understood): Promise<void> {
    let refused: Outcome | null;
    try {
      refused = await admit(job, understood);
    } catch (error) {
      parts.log.error({ err: error, command: job.id }, "a command could not be admitted");
      refused = fault();
    }
    if (refused !== null) await conclusion.conclude(job, refused);
  }

  function armExpiry(job: Job): void {
    if (job.request.effect === "stops" || job.request.effect === "reads") return;
    // Timers may fire a moment early: then the command has not expired yet.
    job.disarm = clock.after(Math.max(1, timeToLeaveMs(clock, job)), () => {
      const notNow = parts.whyNotNow(job);
      if (notNow !== null) parts.runner.withdraw(job, notNow);
      else armExpiry(job);
    });
  }

  /** Synchronous up to `running`, so that no second command of the same identity comes in between. */
  return (command, onStage) => {
    const understood = understand(parts.catalogue, command);
    if ("outcome" in understood) return conclusion.refuse(command, understood);
    if (parts.journal.isClosed()) return conclusion.refuse(command, closed());
    const id = commandId(command);
    const digest = digestOf(command.operation, understood.request.json);
    const identity = identify(parts, id, digest, understood, command);
    switch (identity.kind) {
      case "refused":
        return conclusion.refuse(command, identity.outcome);
      case "in_hand":
        if (onStage !== undefined) watchStages(identity.job, onStage);
        return identity.job.done.then((outcome) => ({ ...outcome, duplicate: true }));
      case "recorded":
        return Promise.resolve({ ...identity.outcome, duplicate: true });
      case "new": {
        const request = identified(understood, id);
        const startByMonotonicMs = startByMonotonic(command, clock, parts.wall);
        const job = createJob({ command, digest, request, startByMonotonicMs });
        if (onStage !== undefined) job.watchers.push(onStage);
        running.set(id, job);
        void start(job, understood);
        return job.done;
      }
    }
  };
}

function identify(
  { running, journal, isStopping, maxCommands }: AcceptanceParts,
  id: string,
  digest: string,
  { request }: Understood,
  { requestId }: Command,
): Identity {
  const job = running.get(id);
  const recorded = job === undefined ? journal.find(id) : undefined;
  if ((job ?? recorded ?? { digest }).digest !== digest) {
    return { kind: "refused", outcome: identityReused(requestId) };
  }
  if (job !== undefined) return { kind: "in_hand", job };
  if (recorded !== undefined) return { kind: "recorded", outcome: recorded.outcome ?? unrecorded() };
  if (isStopping()) return { kind: "refused", outcome: shuttingDown() };
  if (request.effect !== "stops" && running.size >= maxCommands) {
    const message = `the gateway already has ${running.size} commands in hand`;
    return { kind: "refused", outcome: refusal("QUEUE_FULL", message) };
  }
  return { kind: "new" };
}

/**
 * Returns the check of a command's rights: without `found` those on any robot, before the service is asked
 * for the robot or anything is recorded. The gateway's own commands need none.
 */
function createRightCheck(rights: Rights) {
  const anywhere = rightsAnywhere(rights);
  return (
    { command: { source } }: Job,
    { operation }: Understood,
    found: { readonly robotId: RobotId | null } | null,
  ): Outcome | null => {
    if (source === gatewaySource) return null;
    const right = {
      source,
      operation: operation.name,
      role: operation.role,
      robotId: found?.robotId ?? null,
    };
    const refused = refusedRight(found === null ? anywhere : rights, right);
    return refused === null ? null : refusal("NOT_ALLOWED", refused);
  };
}
