import type { Holds } from "../contracts/acts.ts";
import type { Stage } from "../contracts/stage.ts";
import type { StateChange } from "../domain/change.ts";
import { isSameHold } from "../domain/hold.ts";
import type { RobotId } from "../domain/robot.ts";

/** Adds the hold of each new robot. */
export interface HoldStage extends Stage {
  /** The changes after a hold of this robot, or (null) of all robots, has begun or ended. */
  changesOf(robotId: RobotId | null): readonly StateChange[];
}

export function createHoldStage(holdState: Holds["holdState"]): HoldStage {
  const published = new Set<RobotId>();
  const ofAll = (): StateChange => ({ kind: "hold_all", hold: holdState(null) });
  const ofRobot = (robotId: RobotId): StateChange => ({ kind: "hold", robotId, hold: holdState(robotId) });
  const ofRobots = (robotIds: Iterable<RobotId>) => Array.from(robotIds, ofRobot);

  return {
    name: "holds",
    apply(batch) {
      const fresh: StateChange[] = [];
      for (const change of batch.changes) {
        if (change.kind !== "robot" || published.has(change.robotId)) continue;
        published.add(change.robotId);
        fresh.push(ofRobot(change.robotId));
      }
      return fresh.length === 0 ? batch : { ...batch, changes: [...batch.changes, ...fresh] };
    },
    view: (before) => ({
      snapshot() {
        const changes = before.snapshot();
        const robots = changes.flatMap((change) => (change.kind === "robot" ? [change.robotId] : []));
        return [...changes, ofAll(), ...ofRobots(robots)];
      },
      current(change) {
        if (change.kind !== "hold" && change.kind !== "hold_all") return before.current(change);
        const hold = holdState(change.kind === "hold" ? change.robotId : null);
        return isSameHold(hold, change.hold) ? change : { ...change, hold };
      },
    }),
    changesOf: (robotId) => (robotId === null ? [ofAll(), ...ofRobots(published)] : [ofRobot(robotId)]),
  };
}
