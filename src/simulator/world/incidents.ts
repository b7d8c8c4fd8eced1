import type { Incident } from "../scenario/schema.ts";
import type { BatteryRules } from "./battery.ts";
import type { ChainOrders } from "./chain-orders.ts";
import type { WorldChange, WorldContext } from "./context.ts";
import type { ConveyorRules } from "./conveyor-rules.ts";
import type { MissionQueue } from "./mission-queue.ts";
import type { MissionRun } from "./mission-run.ts";
import type { Motion } from "./motion.ts";
import { activeMission, type Robot } from "./robot.ts";

/** The incidents of a world. */
export interface Incidents {
  /** Throws for a robot that the world does not have. */
  cause(incident: Incident): void;
  /** A robot without charge stands still, like its conveyors: its missions and its chain fail. */
  runFlat(robot: Robot): void;
}

interface IncidentParts {
  readonly world: WorldContext;
  readonly motion: Motion;
  readonly batteries: BatteryRules;
  readonly conveyors: ConveyorRules;
  readonly run: MissionRun;
  readonly missions: MissionQueue;
  readonly chains: ChainOrders;
  /** Reports a state without counting it as a change of the robot. */
  notify(change: WorldChange): void;
}

/** Builds the incidents of a world. */
export function createIncidents(parts: IncidentParts): Incidents {
  const { world, motion, batteries, conveyors, run, missions, chains, notify } = parts;

  const setOnline = (robot: Robot, online: boolean) => {
    if (robot.online === online) return;
    robot.online = online;
    world.changed({ kind: "presence", robot });
    if (!online) return;
    reportAll(robot);
    chains.offer(robot);
  };

  /** A robot that is back online reports its present state; changes meanwhile show in its numbers. */
  const reportAll = (robot: Robot) => {
    notify({ kind: "mission", robot });
    notify({ kind: "battery", robot });
    if (robot.family === "cart") notify({ kind: "conveyors", robot });
  };

  const block = (robot: Robot) => {
    if (robot.body.halts.has("blocked")) return;
    motion.halt(robot, "blocked");
    conveyors.stopAll(robot, "blocked");
    robot.blockages += 1;
    losePatience(robot, robot.blockages);
  };

  const losePatience = (robot: Robot, blockage: number) => {
    world.agenda.after(world.rules.blockedFailMs, () => {
      if (robot.blockages !== blockage || !robot.body.halts.has("blocked")) return;
      losePatience(robot, blockage);
      const mission = activeMission(robot);
      if (mission?.status === "running") run.end(robot, mission, "failed", "blocked");
      else chains.fail(robot, "blocked");
    });
  };

  const resetSequences = (robot: Robot) => {
    for (const stamp of [robot.missionStamp, robot.batteryStamp]) {
      stamp.sequence = 0;
      stamp.atMs = world.agenda.nowMs();
    }
    if (robot.online) reportAll(robot);
  };

  const apply = (robot: Robot, incident: Incident) => {
    switch (incident.kind) {
      case "offline":
        return setOnline(robot, false);
      case "online":
        return setOnline(robot, true);
      case "blocked":
        return block(robot);
      case "unblocked":
        return motion.release(robot, "blocked");
      case "battery":
        batteries.setPercent(robot, incident.percent);
        return chains.offer(robot);
      case "wired":
        return batteries.setPlugged(robot, incident.plugged);
      case "sequence-reset":
        return resetSequences(robot);
      case "weight":
        return run.changeWeight(robot, incident.changeKg);
      case "conveyor-health":
        return conveyors.setHealthy(robot, incident.index, incident.ok, incident.keepsTurning);
      case "conveyor-payload":
        return conveyors.setLoaded(robot, incident.index, incident.loaded);
    }
  };

  return {
    cause(incident) {
      const robot = world.robots.get(incident.robotId);
      if (robot === undefined) throw new Error(`there is no robot ${incident.robotId}`);
      world.record.add(robot.id, { what: "incident", incident });
      apply(robot, incident);
    },
    runFlat(robot) {
      conveyors.stopAll(robot, "flat");
      missions.failAll(robot, "flat");
      chains.fail(robot, "flat");
    },
  };
}
