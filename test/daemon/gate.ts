import type { FleetPort } from "../../src/contracts/fleet-port.ts";
import { openedJson } from "../support/fleet-requests.ts";

/** Stands before the session, so that what goes wrong can be timed to the moment when commands leave. */
export interface Gate {
  readonly port: FleetPort;
  /** From now on calls of the operations that `isHeld` names wait. */
  shut(isHeld: (operation: string) => boolean): void;
  waiting(): number;
  /** Lets go what waits, and all that comes. */
  open(): void;
}

export function createGate(port: FleetPort): Gate {
  let isHeld = (_operation: string) => false;
  let held: Array<() => void> = [];
  return {
    port: {
      async call(request, deadlineMs, _leaveWithinMs, order) {
        if (isHeld(openedJson(request).operation)) await new Promise<void>((resolve) => held.push(resolve));
        return port.call(request, deadlineMs, deadlineMs, order);
      },
    },
    shut(which) {
      isHeld = which;
    },
    waiting: () => held.length,
    open() {
      isHeld = () => false;
      for (const release of held) release();
      held = [];
    },
  };
}
