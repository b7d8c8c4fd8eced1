import type { BatteryRules } from "./battery.ts";
import type { WorldContext } from "./context.ts";
import type { Target } from "./map.ts";
import type { Feedback } from "./mission.ts";
import type { Motion } from "./motion.ts";
import type { Robot } from "./robot.ts";

/** What a trip is made for: a goal of a mission, or a task of a chain. */
interface Trip {
  /** The trip comes to its next stage. */
  tell(stage: Exclude<Feedback, "none" | "arrived">): void;
  /** Whether what the trip was made for has ended meanwhile, so that it leads to nothing. */
  isOver(): boolean;
  /** The robot stands at the target, docked where one docks. */
  arrived(): void;
}

/** Takes robots from where they are to a target: out of a dock, along the way, and into a dock. */
export interface Travel {
  go(robot: Robot, target: Target, trip: Trip): void;
}

/** The travels of a world's robots. */
export function createTravel(world: WorldContext, motion: Motion, batteries: BatteryRules): Travel {
  const dock = (robot: Robot, trip: Trip) => {
    trip.tell("docking");
    motion.work(robot, world.rules.dockMs, () => {
      // The last of the charge may have gone before the contacts meet.
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
        trip.tell("navigating");
        motion.drive(robot, target, () => {
          if (target.vertex?.docking === true) dock(robot, trip);
          else trip.arrived();
        });
        batteries.settle(robot);
      };
      if (!robot.body.docked) return drive();
      trip.tell("undocking");
      motion.work(robot, world.rules.undockMs, drive);
    },
  };
}
