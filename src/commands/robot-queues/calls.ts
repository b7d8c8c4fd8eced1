import type { CallEnding } from "../../contracts/fleet-port.ts";
import { describeError } from "../../platform/error-text.ts";
import type { Attribution } from "../attribution/attribution.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { isWatchRule, watchBaseline } from "../evidence/watch.ts";
import { type Guards, timeToLeaveMs } from "../intake-checks.ts";
import { type Job, reportStage } from "../job.ts";
import type { Shared } from "../parts.ts";
import type { QueueInput } from "./robot-queue.ts";

interface CallParts extends Pick<Shared, "options" | "port" | "journal" | "shared" | "clock" | "log"> {
  readonly evidence: Pick<Evidence, "search" | "observations" | "attribution">;
  readonly guards: Pick<Guards, "leases" | "permits" | "conveyors">;
  /** The commands that run beside the one in flight of this queue. */
  readonly besides: (queue: string) => readonly Job[];
}

/**
 * Makes the calls of commands to the service, and keeps stops and starts of one robot in order while their
 * calls wait for a connection: a start that came before a stop must not leave after it, and a stop must not
 * leave again after a later start that it would undo.
 */
export interface Calls {
  /** A command comes to its queue. */
  arrive(job: Job): void;
  /** Asks the service for the state before the call, if the evidence rule of the command needs it. */
  askBaseline(job: Job): Promise<void>;
  /** Makes one call. Resolves with the input for its queue. Never rejects. */
  make(job: Job): Promise<QueueInput>;
  /** Why the command is not sent again, as the words after "not sent"; null: it is. */
  whyNotAgain(job: Job): string | null;
  /** Another member sends a stop: what came to this queue before it must not leave any more. */
  stopElsewhere(queue: string): void;
  /** Nothing is left in the queue. */
  forget(queue: string): void;
}

/**
 * A stop has no expiry of its own. If its sender's has passed, it still gets the time that a connection or a
 * token takes.
 */
const STOP_LEAVES_MS = 2_000;

export function createCalls({
  options,
  port,
  journal,
  shared,
  clock,
  log,
  evidence: { search, observations, attribution },
  guards: { leases, permits, conveyors },
  besides,
}: CallParts): Calls {
  const order = createStopOrder(besides);

  /**
   * How long the call may still leave: to its expiry, or while evidence is sought if its repeat rule says so.
   */
  function mayLeaveForMs(job: Job): number {
    const leftMs = timeToLeaveMs(clock, job);
    const { repeat } = job.request;
    if (job.unknownSinceMs === null || repeat.kind === "never" || repeat.until === "expiry") return leftMs;
    return Math.max(leftMs, job.unknownSinceMs + options.evidenceMs - clock.monotonicMs());
  }

  async function askBaseline(job: Job): Promise<void> {
    const { evidence } = job.request;
    if (evidence.kind === "query") job.baseline = await search.baseline(evidence);
  }

  /** The first call of a command is made: begins to watch its robot. */
  function watch(job: Job): void {
    const { id, robotId, request } = job;
    const { effect, evidence } = request;
    // A stop does not wait for the state before it: the state is asked for as the stop leaves, and may come
    // too late.
    if (effect === "stops") void askBaseline(job);
    if (robotId === null || !isWatchRule(evidence)) return;
    const baseline = watchBaseline(evidence, observations.missions(robotId));
    search.watch(id, evidence, robotId, baseline, clock.nowMs());
  }

  /** The journal that members share permits what moves or changes. */
  function needsPermission({ request: { effect } }: Job): boolean {
    return shared !== null && effect !== "stops" && effect !== "reads";
  }

  /**
   * Called at the moment when the call would leave, for a permit or a lease lapses with time alone. Notes in
   * `heldBack` why a start may not leave, which its order asks for next.
   */
  function guardOf(job: Job): () => boolean {
    const { effect } = job.request;
    const isInOrder = order.guard(job);
    const mayLeave = needsPermission(job) ? () => isInOrder() && journal.permits(job.id) : isInOrder;
    if (effect !== "moves") return mayLeave;
    return () => {
      job.heldBack ??= permits.refusalFor(job.request, job.robotId) ?? leases.refusedStart(job);
      return mayLeave();
    };
  }

  /** A call of the command leaves, or may have left: its record said so before, its sender is told now. */
  function noteSent(job: Job): void {
    if (job.sentAtMs !== null) return;
    job.sentAtMs = clock.nowMs();
    reportStage(job, "sent");
  }

  function send(job: Job): Promise<CallEnding> {
    const { effect, payload } = job.request;
    const isStop = effect === "stops";
    const leastMs = isStop && job.sendings === 1 ? STOP_LEAVES_MS : 0;
    const leaveWithinMs = Math.max(mayLeaveForMs(job), leastMs);
    return port.call(payload, options.callDeadlineMs, leaveWithinMs, {
      isStop,
      ...(effect === "reads" ? {} : { robot: job.queue }),
      mayLeave: guardOf(job),
      leaves() {
        job.leftAtMs = clock.monotonicMs();
        noteSent(job);
        order.leave(job);
        conveyors.left(job);
      },
    });
  }

  /** Each sending needs a permission that is young enough. Resolves with why there is none. */
  async function refusedAgain(job: Job): Promise<string | null> {
    const { id, record } = job;
    if (!needsPermission(job) || record === null || journal.permits(id)) return null;
    const failure = await journal.writeInTime(record);
    return typeof failure === "symbol" ? "another member has stopped or held the robot" : failure;
  }

  return {
    arrive: order.arrive,
    askBaseline,
    async make(job) {
      if (job.sendings === 0) watch(job);
      job.sendings += 1;
      if (job.request.evidence.kind === "new_mission") attribution.expect(job);
      let ending: CallEnding;
      try {
        const refused = job.sendings > 1 ? await refusedAgain(job) : null;
        ending = refused === null ? await send(job) : { kind: "not_sent", message: refused };
      } catch (error) {
        log.error(
          { err: error, command: job.id, robotId: job.robotId },
          "a call failed in a way that it must not",
        );
        ending = { kind: "unknown", code: "INTERNAL", message: describeError(error) };
      }
      if (ending.kind === "refused" || ending.kind === "not_sent") order.withdraw(job);
      if (ending.kind === "unknown") {
        job.unknownSinceMs ??= clock.monotonicMs();
        noteSent(job);
      }
      if (ending.kind === "ok") claimMissions(attribution, job, ending.missionIds ?? []);
      // The hold, or the permit, is the reason why it was not sent, not the stop that came with it.
      if (ending.kind === "not_sent" && job.heldBack !== null) {
        return { kind: "sought", id: job.id, outcome: job.heldBack };
      }
      return { kind: "ended", id: job.id, ending };
    },
    whyNotAgain(job) {
      if (job.overtakenBy !== null) return `until ${job.overtakenBy} left, which it would undo`;
      return mayLeaveForMs(job) > 0 ? null : "within its expiry";
    },
    stopElsewhere: order.count,
    forget: order.forget,
  };
}

/** The service named the missions that a call has made. */
function claimMissions(attribution: Attribution, job: Job, missionIds: readonly string[]): void {
  job.missionIds = missionIds;
  for (const missionId of missionIds) attribution.claim(missionId, job.command);
  if (missionIds.length > 0) attribution.settle(job);
}

/** Decides which call may leave, among the stops and starts of one robot. */
function createStopOrder(besides: CallParts["besides"]) {
  /** Stops that came to each queue in use. */
  const stops = new Map<string, number>();
  let arrivals = 0;

  const count = (queue: string) => stops.set(queue, (stops.get(queue) ?? 0) + 1);
  const stopsOf = ({ queue }: Job) => besides(queue).filter(({ request }) => request.effect === "stops");

  return {
    arrive(job: Job): void {
      arrivals += 1;
      job.arrival = arrivals;
      if (job.request.effect === "stops") count(job.queue);
    },
    count,
    /** Returns whether the present call may still leave: call the result when it leaves. */
    guard(job: Job): () => boolean {
      const { effect } = job.request;
      if (effect === "stops") return () => job.overtakenBy === null;
      const before = stops.get(job.queue);
      const isStopped = () => effect === "moves" && stops.get(job.queue) !== before;
      return () => job.heldBack === null && !isStopped();
    },
    /**
     * The call of a start leaves: earlier stops of the same conveyor, mission or robot are not sent any more.
     */
    leave(start: Job): void {
      if (start.request.effect !== "moves") return;
      for (const stop of stopsOf(start)) {
        const isUndone =
          stop.arrival < start.arrival &&
          stop.request.switches.some((name) => start.request.switches.includes(name));
        if (isUndone) stop.overtakenBy ??= start.id;
      }
    },
    /** The call of a start had no effect: stops that it had kept from being sent may be sent again. */
    withdraw(start: Job): void {
      for (const stop of stopsOf(start)) if (stop.overtakenBy === start.id) stop.overtakenBy = null;
    },
    forget: (queue: string) => void stops.delete(queue),
  };
}
