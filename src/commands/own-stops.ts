import type { MakeStopRequest } from "../contracts/stop-request.ts";
import type { Command, OnBehalfOf, Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Stop } from "../domain/stops.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Lease } from "./leases/lease.ts";

export interface OwnStopParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Names this run of the gateway; request ids are unique within it. */
  readonly sessionId: string;
  readonly stopRequest: MakeStopRequest;
  /** Takes a command as the dispatcher does. */
  readonly receive: (command: Command) => Promise<Outcome>;
}

/** The stops that the gateway sends of itself. */
export interface OwnStops {
  /** Stops the conveyors that a station has left running. */
  lapse(lease: Pick<Lease, "robotId" | "station" | "owner" | "rolling">): void;
  /** Stops what a held robot does, for the owner of the hold. */
  hold(robotId: RobotId, stop: Stop, owner: Source): Promise<Outcome>;
}

/**
 * The source of the gateway's own commands, which need no right. Compared by identity: no protocol can forge
 * it.
 */
export const gatewaySource: Source = { door: "gateway", name: "fleetgate" };
/** How long a stop of the gateway's own may still leave. */
const LEAVES_WITHIN_MS = 10_000;

export function createOwnStops({ clock, log, sessionId, stopRequest, receive }: OwnStopParts): OwnStops {
  let sent = 0;

  function send(
    cause: "lapse" | "hold",
    robotId: RobotId,
    stop: Stop,
    onBehalfOf: OnBehalfOf,
  ): Promise<Outcome> {
    sent += 1;
    return receive({
      source: gatewaySource,
      requestId: `${sessionId}.${cause}${sent}`,
      effect: "stops",
      robotId,
      startByMs: clock.nowMs() + LEAVES_WITHIN_MS,
      onBehalfOf,
      ...stopRequest(robotId, stop),
    });
  }

  return {
    lapse({ robotId, station, owner, rolling: indexes }) {
      const stopped = send("lapse", robotId, { kind: "stop_conveyors", indexes }, { station, owner });
      void stopped.then(({ outcome, code, message }) => {
        log.info(
          { station, robotId, outcome, code, detail: message },
          "conveyors of a silent station stopped",
        );
      });
    },
    async hold(robotId, stop, owner) {
      const stopped = await send("hold", robotId, stop, { owner });
      const { outcome, code, message } = stopped;
      log.info({ robotId, stop, outcome, code, detail: message }, "a held robot was stopped");
      return stopped;
    },
  };
}
