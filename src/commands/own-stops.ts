import type { RobotStop } from "../contracts/cluster.ts";
import type { ParsedRequest } from "../contracts/operation.ts";
import {
  type Command,
  commandId,
  type OnBehalfOf,
  type OwnStopCause,
  ownStopId,
  type Source,
} from "../domain/command.ts";
import { type Outcome, refusal } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Stop } from "../domain/stops.ts";
import { sleep } from "../platform/clock.ts";
import { type Execution, readRequest } from "./intake/request.ts";
import { digestOf, type Job } from "./job.ts";
import type { StoredRun } from "./journal/journal.ts";
import type { Shared } from "./parts.ts";
import { gatewaySource } from "./rights.ts";
import type { Calls } from "./robot-queues/calls.ts";
import type { QueueRunner } from "./robot-queues/queue-runner.ts";

interface OwnStopParts extends Pick<Shared, "catalogue" | "clock" | "log" | "sessionId" | "stopRequest"> {
  readonly begin: Execution["begin"];
}

/** The stops that the gateway itself sends. */
export interface OwnStops {
  /**
   * Sends one stop of a conveyor, on behalf of the user that started it. It is sent once: the caller repeats
   * it.
   */
  conveyor(robotId: RobotId, run: StoredRun): Promise<Outcome>;
  /** Stops an activity of a held robot, for the owner of the hold. */
  hold(robotId: RobotId, stop: Stop, owner: Source): Promise<Outcome>;
  /**
   * Pauses a robot on its way to a station whose permit is lost, for the user that has written the permit.
   */
  permit(robotId: RobotId, missionId: string, station: string, owner: Source): Promise<Outcome>;
  /** Sends a stop again that a member of the cluster has sent already. */
  repeat(stop: RobotStop): Promise<Outcome>;
}

/** Whether the conveyor stands is checked by the code that owes the stop. */
const sentOnce = { repeat: { kind: "never" }, evidence: { kind: "none" } } as const;
/** How long a stop of the gateway's own may still leave. */
const LEAVES_WITHIN_MS = 10_000;

export function createOwnStops({
  catalogue,
  clock,
  log,
  sessionId,
  stopRequest,
  begin,
}: OwnStopParts): OwnStops {
  let sent = 0;

  function send(
    cause: OwnStopCause,
    robotId: RobotId,
    stop: Stop,
    onBehalfOf: OnBehalfOf,
    rules: Partial<ParsedRequest> = {},
  ): Promise<Outcome> {
    return sendRequest(cause, robotId, stopOf(robotId, stop), { onBehalfOf }, rules);
  }

  function sendRequest(
    cause: OwnStopCause,
    robotId: RobotId,
    given: Parameters<typeof readRequest>[1],
    behalf: Pick<Command, "onBehalfOf">,
    rules: Partial<ParsedRequest> = {},
  ): Promise<Outcome> {
    sent += 1;
    const read = readRequest(catalogue, given);
    if ("outcome" in read) return Promise.resolve(read);
    const { operation, request } = read;
    const command: Command = {
      source: gatewaySource,
      requestId: ownStopId(sessionId, cause, sent),
      operation: operation.name,
      effect: "stops",
      robotId,
      requestJson: request.json,
      startByMs: clock.nowMs() + LEAVES_WITHIN_MS,
      ...behalf,
    };
    const digest = digestOf(operation.name, request.json);
    const id = commandId(command);
    return begin({ id, digest, command, operation, request: { ...request, ...rules } });
  }

  function stopOf(robotId: RobotId, stop: Stop) {
    const { operation, request } = stopRequest(robotId, stop);
    return { operation, request: { json: request } };
  }

  return {
    repeat: ({ robotId, operation, requestJson }) =>
      sendRequest("repeat", robotId, { operation, request: { text: requestJson } }, {}),
    conveyor(robotId, { index, station, owner }) {
      // One conveyor for each request: the service refuses a whole request if one of its motors cannot stop.
      const stop = { kind: "stop_conveyors", indexes: [index] } as const;
      return send("conveyor", robotId, stop, station === null ? { owner } : { station, owner }, sentOnce);
    },
    async hold(robotId, stop, owner) {
      const stopped = await send("hold", robotId, stop, { owner });
      const { outcome, code, message } = stopped;
      log.info({ robotId, stop, outcome, code, detail: message }, "a held robot was stopped");
      return stopped;
    },
    async permit(robotId, missionId, station, owner) {
      const paused = await send("permit", robotId, { kind: "pause_mission", missionId }, { station, owner });
      const { outcome, code, message } = paused;
      log.info(
        { station, robotId, missionId, outcome, code, detail: message },
        "a robot was paused that heads for a station without its permit",
      );
      return paused;
    },
  };
}

/** What stops that other members of the cluster send do to the commands of this one. */
export interface StopsElsewhere {
  /** Another member sends a stop. Starts that have not left do not leave any more. */
  note(stop: RobotStop): void;
  /**
   * Sends the stops again that came while this start was under way: it may have arrived after them. Each is
   * sent until the service has answered: only this member knows that it is owed.
   *
   * @returns false: this member ends or leads no more, and stops are owed still. The start must not get an
   *   outcome then, for the next leader finds by its record that they are owed.
   */
  repeatFor(job: Job): Promise<boolean>;
}

interface StopsElsewhereParts extends Pick<Shared, "running" | "clock" | "shared"> {
  /** This member ends. */
  readonly stopping: AbortSignal;
  readonly ownStops: Pick<OwnStops, "repeat">;
  readonly runner: Pick<QueueRunner, "withdraw">;
  readonly calls: Pick<Calls, "stopElsewhere">;
}

const AGAIN_MS = 1_000;

export function createStopsElsewhere({
  running,
  clock,
  shared,
  stopping,
  ownStops,
  runner,
  calls,
}: StopsElsewhereParts): StopsElsewhere {
  return {
    note(stop) {
      const { robotId } = stop;
      for (const job of running.values()) {
        if (job.request.effect !== "moves" || job.robotId !== robotId) continue;
        if (job.sendings > 0) job.stopsOwed.push(stop);
        calls.stopElsewhere(job.queue);
        runner.withdraw(
          job,
          refusal("CANCELED_BY_STOP", `a stop of ${robotId} overtook it on another member`),
        );
      }
    },
    async repeatFor(job) {
      for (;;) {
        const [stop] = job.stopsOwed;
        if (stop === undefined) return true;
        if (isAnswered(await ownStops.repeat(stop))) {
          job.stopsOwed.splice(job.stopsOwed.indexOf(stop), 1);
          continue;
        }
        if (stopping.aborted || shared?.isLeading() !== true) return false;
        await sleep(clock, AGAIN_MS, stopping);
      }
    },
  };
}

/** Whether the service has answered a stop. Without an answer it may not have it. */
function isAnswered({ outcome, code }: Outcome): boolean {
  return outcome !== "unknown" && outcome !== "expired" && code !== "FLEET_UNREACHABLE";
}
