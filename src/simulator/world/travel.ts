import type { BatteryRules } from "./battery.ts";
import type { WorldContext } from "./context.ts";
import type { Target } from "./map.ts";
import type { Feedback } from "./mission.ts";
import type { Motion } from "./motion.ts";
import type { Robot } from "./robot.ts";

/** The purpose of a trip: a goal of a mission, or a task of a chain. */
interface Trip {
  /** The trip has reached its next stage. */
  notify(stage: Exclude<Feedback, "none" | "arrived">): void;
  /** Whether the purpose of the trip has ended meanwhile: then its arrival has no effect. */
  isOver(): boolean;
  /** The robot stands at the target, docked if robots dock there. */
  arrived(): void;
}

/** Moves robots to a target: out of a dock, along the way, and into a dock. */
export interface Travel {
  go(robot: Robot, target: Target, trip: Trip): void;
}

/** The travels of a world's robots. */
export function createTravel(world: WorldContext, motion: Motion, batteries: BatteryRules): Travel {
  const dock = (robot: Robot, trip: Trip) => {
    trip.notify("docking");
    motion.work(robot, world.rules.dockMs, () => {
      // The last of the charge may be gone before the contacts meet.
      batteries.settle(robot);
      if (trip.isOver()) return;
      robot.body.docked = true;
      batteries.settle(robot);
      trip.arrived();
    });
  };

  return {
    go(robot, target, trip) {
      const drive = () => {
        trip.notify("navigating");
        motion.drive(robot, target, () => {
          if (target.vertex?.docking === true) dock(robot, trip);
          else trip.arrived();
        });
        batteries.settle(robot);
      };
      if (!robot.body.docked) return drive();
      trip.notify("undocking");
      motion.work(robot, world.rules.undockMs, drive);
    },
  };
}
