import type { FleetPort } from "../contracts/fleet-port.ts";
import type { ParsedRequest, Subject } from "../contracts/operation.ts";
import { type Command, sameSource } from "../domain/command.ts";
import { quoted } from "../domain/foreign-text.ts";
import { ending, type Outcome, refusal, unknownRobot } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import type { SteadyWall } from "../platform/clock-watch.ts";
import type { ConveyorRuns } from "./conveyors/conveyor-runs.ts";
import type { Observations } from "./evidence/evidence.ts";
import type { FleetLink } from "./fleet-link.ts";
import type { HoldControl } from "./holds/hold-control.ts";
import type { AcceptedCommand } from "./intake/request.ts";
import { fillIdentity, type Job } from "./job.ts";
import type { LeaseControl } from "./leases/lease-control.ts";
import { inOtherHands, onTrial, perhapsElsewhere, shuttingDown, standingBy } from "./own-refusals.ts";
import type { Shared } from "./parts.ts";
import type { PermitControl } from "./permits/permit-control.ts";
import { gatewaySource, refusedOnRobot } from "./rights.ts";

/** The queue in which a command runs. */
interface QueueOf {
  readonly queue: string;
  readonly robotId: RobotId | null;
}

/** All that may keep a command from being sent. */
export interface Guards {
  readonly leases: LeaseControl;
  readonly holds: HoldControl;
  readonly permits: PermitControl;
  readonly conveyors: ConveyorRuns;
}

interface IntakeCheckParts extends Pick<Shared, "rights" | "port" | "robot" | "link" | "clock"> {
  readonly run: Pick<Shared, "stopping" | "isOnTrial" | "shared">;
  readonly observations: Observations;
  readonly guards: Pick<Guards, "leases" | "holds" | "permits">;
}

/** Decides whether a command may go on. */
export interface IntakeChecks {
  /** Finds the queue and the robot of a job. Resolves with why it may not go on; null: its queue decides. */
  assign(job: Job, accepted: AcceptedCommand): Promise<Outcome | null>;
  /** Why a command must not leave now; null: it may. */
  refusalNow(job: Job): Outcome | null;
  /** This member of a cluster does not lead. */
  isStandingBy(): boolean;
  /** What a standby answers to a start: it may not know yet that the leader has the same command. */
  refusalOfStandby(commandId: string): Promise<Outcome>;
  /** Why a command must not begin while the gateway stops, or is on trial; null: it may. */
  refusedInThisRun(command: Pick<Job, "command">): Outcome | null;
}

/** How long the service may take to name the robot of a task chain. */
const CHAIN_QUERY_MS = 2_000;
/** The queue of commands that concern no single robot, or a robot that the service chooses. */
export const SERVICE_PICKS = "fleet";

export function createIntakeChecks({
  rights,
  port,
  robot,
  link,
  run: { stopping, isOnTrial, shared },
  clock,
  observations,
  guards: { leases, holds, permits },
}: IntakeCheckParts): IntakeChecks {
  const findQueue = createQueueFinder(observations, port, link);
  const isStandingBy = () => shared?.isLeading() === false;

  /**
   * While the gateway stops, only its own stops leave; while it is on trial or stands by, only stops and
   * reads. What the shared journal has goes on also while a leader has no proof that it leads: the journal
   * permits it, or does not.
   */
  function refusedInThisRun(accepted: Pick<Job, "command">, isRecorded = false): Outcome | null {
    const { effect } = accepted.command;
    if (stopping.signal.aborted && !isOwnStop(accepted)) return shuttingDown();
    if (effect === "stops" || effect === "reads") return null;
    if (!isRecorded && isStandingBy()) return standingBy();
    return isOnTrial() ? onTrial() : null;
  }

  function refusalNow(job: Job): Outcome | null {
    return refusedInThisRun(job, job.record !== null) ?? job.heldBack ?? refusalByEffect(job);
  }

  /** Nothing here refuses stops; only time refuses reads. */
  function refusalByEffect(job: Job): Outcome | null {
    const { effect } = job.request;
    if (effect === "stops") return null;
    if (timeToLeaveMs(clock, job) <= 0) {
      const limit = new Date(job.command.startByMs).toISOString();
      return ending("expired", "EXPIRED", `it was not sent by ${limit}`, true);
    }
    if (effect === "reads" || (effect === "changes" && job.robotId === null)) return null;
    const held = effect === "moves" ? holds.refusalFor(job.robotId) : null;
    if (held !== null) return held;
    const stopped = effect === "moves" ? refusedByStop(job.robotId) : null;
    if (stopped !== null) return stopped;
    const notPermitted = effect === "moves" ? permits.refusalFor(job.request, job.robotId) : null;
    if (notPermitted !== null) return notPermitted;
    const notGood = effect === "moves" && job.robotId !== null ? refusedByQuality(job.robotId) : null;
    if (notGood !== null) return notGood;
    const lease = leases.refusalFor(job.robotId, job.command.source);
    return lease === null ? leases.refusedStart(job) : refusal("LEASE_HELD", lease);
  }

  /** The other member may send its stop a second time: it must not stop what is started now. */
  function refusedByStop(robotId: RobotId | null): Outcome | null {
    const reason = robotId === null ? null : (shared?.stoppedElsewhere(robotId) ?? null);
    return reason === null ? null : refusal("CANCELED_BY_STOP", reason);
  }

  function refusedByQuality(robotId: RobotId): Outcome | null {
    const seen = robot(robotId);
    if (seen === undefined) return refuseUnknown(link, robotId);
    if (seen.quality === "good") return null;
    const message = `robot ${robotId} is ${seen.quality}: what it does now is not known, so nothing may move it`;
    return refusal("ROBOT_NOT_GOOD", message);
  }

  return {
    async assign(job, accepted) {
      const found = await findQueue(job.request);
      if ("outcome" in found) return found;
      job.queue = found.queue;
      job.robotId = found.robotId;
      const notAllowed = refusedOnRobot(rights.now(), accepted, found.robotId);
      return notAllowed === null ? refusalNow(job) : refusal("NOT_ALLOWED", notAllowed);
    },
    refusalNow,
    isStandingBy,
    async refusalOfStandby(id) {
      const isRecorded = (await shared?.isRecorded(id)) ?? null;
      if (isRecorded === null) return perhapsElsewhere();
      return isRecorded ? inOtherHands() : standingBy();
    },
    refusedInThisRun,
  };
}

/**
 * Finds the queue of a request: one for a physical robot, whichever of its names is used. A stop needs no
 * queue, so it passes even if its robot is not known.
 */
function createQueueFinder(observations: Observations, port: FleetPort, link: FleetLink) {
  function byNumber(amrId: number, request: ParsedRequest): QueueOf | Outcome {
    const robotId = observations.robotOfNumber(amrId);
    if (robotId !== undefined) return queueOf(robotId);
    if (request.effect === "stops") return { queue: `number/${amrId}`, robotId: null };
    const unknown = notReceived(link, `robot number ${amrId}`);
    if (unknown !== null) return unknown;
    const message = `no robot_id is known for robot number ${amrId}, so it cannot be kept in order with that robot's missions`;
    return refusal("UNKNOWN_ROBOT", message);
  }

  async function byChain(subject: ChainSubject, request: ParsedRequest): Promise<QueueOf | Outcome> {
    const known = observations.numberOfChain(subject.chainId);
    const amrId = known !== undefined && known !== 0 ? known : await askForChain(port, subject, request);
    if (typeof amrId !== "number") return amrId;
    if (amrId !== 0) return byNumber(amrId, request);
    // Not the fleet's queue for a stop: it would cancel commands that have nothing to do with this chain.
    return { queue: request.effect === "stops" ? `chain/${subject.chainId}` : SERVICE_PICKS, robotId: null };
  }

  return async (request: ParsedRequest): Promise<QueueOf | Outcome> => {
    const { subject } = request;
    switch (subject.kind) {
      case "fleet":
        return { queue: SERVICE_PICKS, robotId: null };
      case "robot":
        return queueOf(subject.robotId);
      case "robot_number":
        return byNumber(subject.amrId, request);
      case "task_chain":
        return byChain(subject, request);
    }
  };
}

type ChainSubject = Extract<Subject, { kind: "task_chain" }>;

/** An unknown robot is the sender's mistake, unless robots have not had time to report. */
export function refuseUnknown(link: FleetLink, robotId: RobotId): Outcome {
  return notReceived(link, `robot ${quoted(robotId)}`) ?? unknownRobot(robotId);
}

/** Why nothing is known of `what` yet; null: every robot has had time to report. */
function notReceived(link: FleetLink, what: string): Outcome | null {
  switch (link.reception()) {
    case "complete":
      return null;
    case "not_yet":
      return refusal("ROBOT_NOT_GOOD", `nothing has been heard of ${what} yet: the gateway has just come up`);
    case "cut_off":
      return refusal(
        "FLEET_UNREACHABLE",
        `nothing has been heard of ${what} since the gateway started, and the service is not reached`,
      );
  }
}

/** A stop from the gateway itself. */
export function isOwnStop({ command: { source, effect } }: Pick<Job, "command">): boolean {
  return effect === "stops" && sameSource(source, gatewaySource);
}

/** The request with its identity filled in, if the operation has a field for it. */
export function identified({ request, operation, id }: AcceptedCommand): ParsedRequest {
  if (request.identityField === null) return request;
  const filled = operation.parse(fillIdentity(request.json, request.identityField, id));
  return filled.ok ? filled.request : request;
}

/**
 * When a command that is received now expires, on the monotonic clock. A moment from its sender is compared
 * with the later of the wall clock and the time that it would show if nobody had set it.
 */
export function startByMonotonic(
  { startByMs, expiresAtMs = Number.POSITIVE_INFINITY }: Command,
  clock: Clock,
  wall: SteadyWall,
): number {
  const leftMs = Math.min(startByMs - clock.nowMs(), expiresAtMs - wall.latestMs());
  return clock.monotonicMs() + leftMs;
}

/**
 * How long it may take until its call leaves. The wall clock counts for a moment that the sender wrote, but
 * not for a time from the receipt.
 */
export function timeToLeaveMs(clock: Clock, { command, startByMonotonicMs }: Job): number {
  const { expiresAtMs = Number.POSITIVE_INFINITY } = command;
  return Math.min(expiresAtMs - clock.nowMs(), startByMonotonicMs - clock.monotonicMs());
}

function queueOf(robotId: RobotId): QueueOf {
  return { queue: `robot/${robotId}`, robotId };
}

/** Asks for the number of the robot of a chain of which nothing was received. */
async function askForChain(
  port: FleetPort,
  { chainId, find }: ChainSubject,
  request: ParsedRequest,
): Promise<number | Outcome> {
  if (request.effect === "stops" || request.effect === "reads") return 0;
  const answer = await port.call(find.request(), CHAIN_QUERY_MS);
  if (answer.kind !== "ok") {
    return refusal(
      "FLEET_UNREACHABLE",
      `the robot of task chain ${chainId} could not be asked for: ${answer.message}`,
    );
  }
  const amrId = find.amrId(JSON.parse(answer.responseJson));
  return amrId ?? refusal("UNKNOWN_ROBOT", `the service knows no task chain ${chainId}`);
}
