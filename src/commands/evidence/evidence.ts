import type { StateChange } from "../../domain/change.ts";
import type { Mission, MissionQueue } from "../../domain/mission.ts";
import type { Observed } from "../../domain/observed.ts";
import type { Conveyor, Presence, RobotId } from "../../domain/robot.ts";
import type { RobotSight } from "../../domain/stops.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import {
  type Attribution,
  createAttribution,
  createForeignWatch,
  type ForeignWatch,
} from "../attribution/attribution.ts";
import type { Shared } from "../parts.ts";
import { createEvidenceSearch, type EvidenceSearch } from "./evidence-search.ts";

/** Evidence and attribution: compares the messages of robots with commands. */
export interface Evidence {
  readonly foreign: ForeignWatch;
  readonly attribution: Attribution;
  readonly search: EvidenceSearch;
  readonly observations: Observations;
}

interface EvidenceParts
  extends Pick<Shared, "options" | "port" | "shared" | "alarmRegistry" | "clock" | "log"> {
  /** Called for a finding about a command whose outcome was already final. */
  readonly onLate: (commandId: string, text: string) => void;
}

export function createEvidence({
  options,
  port,
  shared,
  alarmRegistry,
  clock,
  log,
  onLate,
}: EvidenceParts): Evidence {
  const foreign = createForeignWatch({ clock, log, alarmRegistry });
  const attribution = createAttribution({ clock, onForeign: foreign.seen });
  const search = createEvidenceSearch({ options, clock, port, log, attribution, onLate });
  const observations = createObservations({
    missions: search.missions,
    conveyor: search.conveyor,
    newMission(robotId, mission) {
      // The leader makes missions, and knows which are its own.
      if (shared?.isLeading() !== false) attribution.seen(robotId, mission);
    },
  });
  return { foreign, attribution, search, observations };
}

/** Called for each new value. */
interface ObservationListener {
  missions(robotId: RobotId, observed: Observed<MissionQueue>): void;
  conveyor(robotId: RobotId, observed: Observed<Conveyor>): void;
  /** A mission that was not in the robot's list before; not called for the first list of a robot. */
  newMission(robotId: RobotId, mission: Mission): void;
}

/** The latest values of each robot, as far as commands need them. */
export interface Observations {
  observed(changes: readonly StateChange[]): void;
  missions(robotId: RobotId): MissionQueue | undefined;
  /** The newest values that show what the robot does. */
  sight(robotId: RobotId): RobotSight;
  /** Every robot with a value. */
  robots(): readonly RobotId[];
  /** The robot's last point in GetOnlineRobots. */
  position(robotId: RobotId): string | undefined;
  /** The robot with this number: two names of one machine. */
  robotOfNumber(amrId: number): RobotId | undefined;
  /** The number of the robot that executes a task chain; 0: none. */
  numberOfChain(chainId: number): number | undefined;
}

const MAX_CHAINS = 10_000;

function createObservations(listener: ObservationListener): Observations {
  const queues = new Map<RobotId, Observed<MissionQueue>>();
  const presences = new Map<RobotId, Observed<Presence>>();
  const conveyors = new Map<RobotId, Map<number, Observed<Conveyor>>>();
  const byNumber = new Map<number, RobotId>();
  const chains = new BoundedMap<number, number>(MAX_CHAINS);

  /** A value with the same stamp as before was published again because its quality changed: nothing new. */
  function onMissions(robotId: RobotId, observed: Observed<MissionQueue>): void {
    const before = queues.get(robotId);
    queues.set(robotId, observed);
    if (before?.stamp === observed.stamp) return;
    if (before !== undefined && before.value !== observed.value) {
      for (const mission of observed.value.missions) {
        const known = before.value.missions.some(({ missionId }) => missionId === mission.missionId);
        if (!known) listener.newMission(robotId, mission);
      }
    }
    listener.missions(robotId, observed);
  }

  function onConveyor(robotId: RobotId, observed: Observed<Conveyor>): void {
    const known = conveyors.get(robotId) ?? new Map<number, Observed<Conveyor>>();
    const before = known.get(observed.value.index);
    conveyors.set(robotId, known.set(observed.value.index, observed));
    if (before?.stamp !== observed.stamp) listener.conveyor(robotId, observed);
  }

  return {
    observed(changes) {
      for (const change of changes) {
        switch (change.kind) {
          case "mission":
            onMissions(change.robotId, change.observed);
            break;
          case "conveyor":
            onConveyor(change.robotId, change.observed);
            break;
          case "presence":
            byNumber.set(change.observed.value.amrId, change.robotId);
            presences.set(change.robotId, change.observed);
            break;
          case "task_chain":
            chains.set(change.chainId, change.observed.value.amrId);
            break;
          default:
            break;
        }
      }
    },
    missions: (robotId) => queues.get(robotId)?.value,
    sight: (robotId) => ({
      missions: queues.get(robotId),
      presence: presences.get(robotId),
      conveyors: [...(conveyors.get(robotId)?.values() ?? [])],
    }),
    robots: () => [...new Set([...queues.keys(), ...presences.keys(), ...conveyors.keys()])],
    position: (robotId) => presences.get(robotId)?.value.position,
    robotOfNumber: (amrId) => byNumber.get(amrId),
    numberOfChain: (chainId) => chains.get(chainId),
  };
}
