import type { CurrentState } from "../contracts/fleet-view.ts";
import type { Holds } from "../contracts/holds.ts";
import type { Batch } from "../contracts/link.ts";
import type { StateChange } from "../domain/change.ts";
import { isSameHold } from "../domain/hold.ts";
import type { RobotId } from "../domain/robot.ts";

export interface HoldViewParts {
  readonly state: CurrentState & { robots(): readonly { readonly robotId: RobotId }[] };
  readonly holdState: Holds["holdState"];
}

/** The view of the fleet state with the holds of its robots. */
export interface HoldView extends CurrentState {
  /** A batch of the fleet state, with the hold of each new robot. */
  withHolds(batch: Batch): Batch;
  /** The changes after a hold of this robot, or (null) of all robots, has begun or ended. */
  changesOf(robotId: RobotId | null): readonly StateChange[];
}

export function createHoldView({ state, holdState }: HoldViewParts): HoldView {
  const published = new Set<RobotId>();

  function ofRobot(robotId: RobotId): StateChange {
    published.add(robotId);
    return { kind: "hold", robotId, hold: holdState(robotId) };
  }

  function ofAll(): StateChange {
    return { kind: "hold_all", hold: holdState(null) };
  }

  function ofEachRobot(): readonly StateChange[] {
    return state.robots().map(({ robotId }) => ofRobot(robotId));
  }

  return {
    snapshot: () => [...state.snapshot(), ofAll(), ...ofEachRobot()],
    current(change) {
      if (change.kind !== "hold" && change.kind !== "hold_all") return state.current(change);
      const hold = holdState(change.kind === "hold" ? change.robotId : null);
      return isSameHold(hold, change.hold) ? change : { ...change, hold };
    },
    withHolds(batch) {
      const fresh: StateChange[] = [];
      for (const change of batch.changes)
        if (change.kind === "robot" && !published.has(change.robotId)) fresh.push(ofRobot(change.robotId));
      return fresh.length === 0 ? batch : { ...batch, changes: [...batch.changes, ...fresh] };
    },
    changesOf: (robotId) => (robotId === null ? [ofAll(), ...ofEachRobot()] : [ofRobot(robotId)]),
  };
}
