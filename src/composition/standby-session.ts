import type { CallEnding, FleetPort } from "../contracts/fleet-port.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import type { Component } from "../platform/component.ts";

/**
 * The session to the service of a member that stands by without one (`standby: warm`). It opens when the
 * member takes over, or a stop needs it, and stays open until the process ends.
 */
export interface StandbySession {
  isOpen(): boolean;
  open(): void;
  /** Resolves when it is open. */
  readonly opened: Promise<void>;
  /** Opens it, and resolves when the service is reached, or does not answer for so long. */
  reached(isUp: () => boolean, limitMs: number): Promise<void>;
  /** Sends stops, for which it opens, and nothing else before it is open. */
  port(port: FleetPort): FleetPort;
  /** The component of the session, whose absence is no fault. */
  shown(fleet: Component): Component;
}

const LOOK_MS = 50;
const STOP_LEAVES_MS = 2_000;
const CLOSED = "this box stands by without a session to the fleet service (cluster.standby: warm)";
const closed: CallEnding = { kind: "not_sent", message: CLOSED };

export function createStandbySession(clock: Clock, ended: AbortSignal): StandbySession {
  let isOpen = false;
  let resolve = () => {};
  const opened = new Promise<void>((done) => {
    resolve = done;
  });
  function open(): void {
    isOpen = true;
    resolve();
  }
  return {
    isOpen: () => isOpen,
    open,
    opened,
    async reached(isUp, limitMs) {
      open();
      const untilMs = clock.monotonicMs() + limitMs;
      while (!isUp() && clock.monotonicMs() < untilMs && !ended.aborted) await sleep(clock, LOOK_MS, ended);
    },
    port: (port) => ({
      async call(request, deadlineMs, leaveWithinMs, order) {
        if (isOpen) return port.call(request, deadlineMs, leaveWithinMs, order);
        if (order?.isStop !== true) return closed;
        open();
        // A stop that comes late may stop what somebody has started since.
        return port.call(request, deadlineMs, Math.min(leaveWithinMs ?? deadlineMs, STOP_LEAVES_MS), order);
      },
    }),
    shown: (fleet) => ({
      ...fleet,
      health: () => (isOpen ? fleet.health() : { state: "up", detail: CLOSED }),
    }),
  };
}
