import { fromJson } from "@bufbuild/protobuf";
import { Refusal } from "../../src/simulator/refusal.ts";
import { MissionSchema } from "../../src/wire/fleet/v1/mission_pb.js";
import type { TestRobot } from "../contract/contract-harness.ts";
import type { RunningSimulator } from "../support/simulator.ts";

/** What goes wrong around commands, and who else acts on the same robots. */
export interface Mischief {
  /** One of it, by chance. */
  strike(): void;
  /** How often each kind struck. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Robots take their time to confirm, so that a crash finds commands under way; missions are over soon. */
export const unhurriedRobots = { confirmMs: 40, confirmWaitMs: 200, timeFactor: 50 } as const;

const effects = [
  "delay-taken",
  "delay-not-taken",
  "delay-taken-late",
  "internal-before",
  "internal-after",
] as const;
const operations = ["CreateMission", "AppendMission"] as const;

/** Mischief of a service and its other clients, the same at each run of a seed. */
export function createMischief(
  { control }: RunningSimulator,
  robots: readonly TestRobot[],
  random: () => number,
): Mischief {
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

  function one<T>(list: readonly T[]): T {
    const found = list[Math.floor(random() * list.length)];
    if (found === undefined) throw new Error("there is nothing to choose from");
    return found;
  }

  /** A mission of somebody else, who has the same owner in the service's eyes or stands at the robot. */
  function foreign(robot: TestRobot): void {
    const [near] = robot.stations;
    const goal = { destinationId: near };
    const mission = fromJson(MissionSchema, { baseMission: { navigateMission: { goal } } });
    try {
      control.startMission(robot.id, one(["api", "touchscreen"]), mission);
      count("foreign mission");
    } catch (error) {
      // The robot is busy: nobody else gets it either.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  function disturb(robot: TestRobot, effect: "drop" | "repeat"): void {
    const stream = "SubscribeMissionStatus";
    control.apply({ kind: "stream", stream, robotId: robot.id, effect, count: 1 });
    count(effect);
  }

  return {
    counts,
    strike() {
      const robot = one(robots);
      const which = random();
      // First what a run must have had: a slow machine has time for few strikes.
      if (!counts.has("drop")) disturb(robot, "drop");
      else if (!counts.has("foreign mission")) foreign(robot);
      else if (which < 0.5) {
        const effect = one(effects);
        control.apply({ kind: "command", operation: one(operations), robotId: robot.id, effect, count: 1 });
        count(effect);
      } else if (which < 0.8) disturb(robot, one(["drop", "repeat"] as const));
      else foreign(robot);
    },
  };
}
