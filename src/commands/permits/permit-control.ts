import type { ParsedRequest } from "../../contracts/operation.ts";
import type { Permits } from "../../contracts/stations.ts";
import type { StateChange } from "../../domain/change.ts";
import type { Source } from "../../domain/command.ts";
import { quoted } from "../../domain/foreign-text.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { placeAt } from "../../domain/station-sight.ts";
import { hasStopFailed } from "../../domain/stops.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Live } from "../../platform/live.ts";
import type { Observations } from "../evidence/evidence.ts";
import type { StationOptions } from "../options.ts";
import type { Shared } from "../parts.ts";
import { gatewaySource, refusedRight, refusedStationUser, rightsAnywhere } from "../rights.ts";
import { goalsOf, noPermit, type Permit, renewed, revoked, whyNotGiven, written } from "./permit.ts";

export interface PermitControlParts extends Pick<Shared, "stations" | "rights" | "clock" | "log" | "audit"> {
  readonly observations: Pick<Observations, "missions" | "sight" | "robots">;
  /** A permit is lost: starts to the station that have not left must be refused. */
  readonly refuseStarts: () => void;
  /** Pauses a robot's mission for a station. Never rejects. */
  readonly pause: (robotId: RobotId, missionId: string, station: string, owner: Source) => Promise<Outcome>;
}

/** The part of a start that concerns a permit. */
export type GuardedStart = Pick<ParsedRequest, "destination">;

/** Keeps the permits of stations that require one. */
export interface PermitControl extends Permits {
  /** The level that a user of the station has written. Null: it is accepted; otherwise the refusal. */
  write(station: string, source: Source, isGiven: boolean): Outcome | null;
  /**
   * The heartbeat of this user of the station has changed. It renews the permit that the user has written.
   */
  heartbeat(station: string, source: Source): void;
  /** The gateway runs: a permit that no PLC has given after a while counts as lost. */
  start(): void;
  /**
   * The refusal of a start of this robot, or (null) of a start whose robot the service chooses; null: every
   * station on its way permits it.
   */
  refusalFor(start: GuardedStart, robotId: RobotId | null): Outcome | null;
  /** The changes of robots, after the observations have them. */
  observed(changes: readonly StateChange[]): void;
  /** Finds permits whose heartbeat has lapsed. Call it about once a second. */
  tick(): void;
  /** Rights have changed: permits are lost if their users may not give them now. */
  review(isGone: (owner: Source) => boolean): void;
  /** How many stations require a permit that is not given. */
  missing(): number;
}

/** A station that requires a permit. */
interface Guarded {
  readonly station: Live<StationOptions>;
  readonly pauses: PermitPauses | null;
  permit: Permit;
  /** The last result; `unknown` from the start until a PLC has had time to come back. */
  found: "given" | "lost" | "unknown";
}

/** The OPC UA server may take seconds to listen, and a PLC as long to try again. */
const COMES_BACK_MS = 30_000;

export function createPermitControl(parts: PermitControlParts): PermitControl {
  const { clock } = parts;
  const guards = new Map<string, Guarded>();
  follow();
  parts.stations.onChange(follow);
  let startedAtMs = Number.POSITIVE_INFINITY;
  const anywhere = rightsAnywhere(parts.rights);

  /** A station that a reload adds has no permit until its PLC gives it. */
  function follow(): void {
    const guarded = parts.stations.now().filter(({ permit }) => permit !== undefined);
    for (const name of guards.keys()) if (!guarded.some((each) => each.name === name)) guards.delete(name);
    for (const station of guarded) {
      if (!guards.has(station.name)) guards.set(station.name, guardOf(station, parts));
    }
  }

  const whyNot = ({ permit, station }: Guarded) =>
    whyNotGiven(permit, station.now().heartbeatMs, clock.monotonicMs());

  /** Logs a changed permit, and does what follows from it. */
  function look(guard: Guarded, by: Source | null): void {
    const reason = whyNot(guard);
    if (reason === null) {
      if (guard.found === "given") return;
      guard.found = "given";
      guard.pauses?.end();
      report(parts, guard, "given", "", by);
      return;
    }
    if (guard.found === "lost" || (guard.found === "unknown" && isEarly(guard))) return;
    guard.found = "lost";
    report(parts, guard, "lost", reason, by);
    parts.refuseStarts();
    guard.pauses?.begin();
  }

  /** A PLC that has sent nothing yet may still be coming back; one that has written FALSE is not. */
  function isEarly({ permit, station }: Guarded): boolean {
    if (permit.level?.isGiven === false) return false;
    return clock.monotonicMs() - startedAtMs <= Math.max(COMES_BACK_MS, station.now().heartbeatMs);
  }

  function refusedWrite(station: StationOptions, source: Source): string | null {
    const asked = { source, operation: null, role: "operator", robotId: null } as const;
    return refusedStationUser(station, source) ?? refusedRight(anywhere.now(), asked);
  }

  return {
    start() {
      startedAtMs = clock.monotonicMs();
    },
    write(name, source, isGiven) {
      const guard = guards.get(name);
      if (guard === undefined) return refusal("MALFORMED", `station ${quoted(name)} requires no permit`);
      const refused = refusedWrite(guard.station.now(), source);
      if (refused !== null) return refusal("NOT_ALLOWED", refused);
      guard.permit = written(guard.permit, isGiven, source);
      look(guard, source);
      return null;
    },
    heartbeat(name, source) {
      const guard = guards.get(name);
      if (guard === undefined) return;
      guard.permit = renewed(guard.permit, source, clock.monotonicMs());
      look(guard, source);
    },
    permitOf(name) {
      const guard = guards.get(name);
      const reason = guard === undefined ? null : whyNot(guard);
      return { isRequired: guard !== undefined, isGiven: reason === null, reason: reason ?? "" };
    },
    refusalFor(start, robotId) {
      if (guards.size === 0 || start.destination === null) return null;
      const goals = goalsOf(start, robotId === null ? undefined : parts.observations.missions(robotId));
      for (const guard of guards.values()) {
        const { name, destinations } = guard.station.now();
        const goal = goals.find((each) => destinations.includes(each));
        const reason = goal === undefined ? null : whyNot(guard);
        if (goal !== undefined && reason !== null) return notPermitted(name, goal, reason);
      }
      return null;
    },
    observed(changes) {
      if (guards.size === 0) return;
      if (![...guards.values()].some(({ found, pauses }) => found === "lost" && pauses !== null)) return;
      const robots = new Set(changes.flatMap((change) => ("robotId" in change ? [change.robotId] : [])));
      for (const { pauses } of guards.values()) for (const robotId of robots) pauses?.look(robotId);
    },
    tick() {
      for (const guard of guards.values()) {
        look(guard, null);
        guard.pauses?.tick();
      }
    },
    review(isGone) {
      for (const guard of guards.values()) {
        const owner = guard.permit.level?.owner;
        if (owner === undefined) continue;
        if (!isGone(owner) && refusedWrite(guard.station.now(), owner) === null) continue;
        guard.permit = revoked(guard.permit);
        look(guard, null);
      }
    },
    missing: () => [...guards.values()].filter((guard) => whyNot(guard) !== null).length,
  };
}

function guardOf(first: StationOptions, parts: PermitControlParts): Guarded {
  const { clock, observations } = parts;
  const { name } = first;
  const station = parts.stations.pick((list) => list.find((each) => each.name === name) ?? first);
  const owner = () => guard.permit.level?.owner ?? gatewaySource;
  const pause = (robotId: RobotId, missionId: string) => parts.pause(robotId, missionId, name, owner());
  const pauses =
    first.permit?.pauseOnLoss === true ? createPermitPauses({ clock, observations, station, pause }) : null;
  const guard: Guarded = { station, pauses, permit: noPermit, found: "unknown" };
  return guard;
}

function notPermitted(station: string, goal: string, reason: string): Outcome {
  const message = `station ${station} does not permit starts towards ${quoted(goal)}: ${reason} (stations.${station}.permit is required)`;
  return refusal("NO_PERMIT", message);
}

/** Logs and audits that a permit is given, or lost. `by` null: found by the gateway. */
function report(
  { clock, log, audit }: PermitControlParts,
  { station, permit }: Guarded,
  permitIs: "given" | "lost",
  reason: string,
  by: Source | null,
): void {
  const { protocol, name } = by ?? permit.level?.owner ?? gatewaySource;
  const { name: stationName } = station.now();
  log.info({ station: stationName, user: name, reason }, `permit ${permitIs}`);
  audit({
    at: new Date(clock.nowMs()).toISOString(),
    event: "permit",
    permit: permitIs,
    station: stationName,
    protocol,
    user: name,
    reason,
  });
}

export interface PermitPauseParts {
  readonly clock: Clock;
  readonly observations: Pick<Observations, "sight" | "robots">;
  readonly station: Live<Pick<StationOptions, "destinations">>;
  /** Pauses a mission. Never rejects. */
  readonly pause: (robotId: RobotId, missionId: string) => Promise<Outcome>;
}

/** Pauses robots on their way to a station whose permit is lost: each once for each loss. */
interface PermitPauses {
  /** The permit is lost: pauses the robots on their way there. */
  begin(): void;
  /** The permit is given again. Nothing is resumed. */
  end(): void;
  /** This robot has sent something: pauses it if it is now on its way there. */
  look(robotId: RobotId): void;
  /** Tries a failed pause again. Call it about once a second. */
  tick(): void;
}

interface Pause {
  state: "under_way" | "done" | "failed";
  readonly atMs: number;
}

const RETRY_MS = 10_000;

function createPermitPauses(parts: PermitPauseParts): PermitPauses {
  const { clock, observations, station } = parts;
  let isLost = false;
  let paused = new Map<RobotId, Pause>();

  function isDue(pause: Pause | undefined): boolean {
    if (pause === undefined) return true;
    return pause.state === "failed" && clock.monotonicMs() - pause.atMs >= RETRY_MS;
  }

  /** By the last values, whatever their quality: a pause too many harms nobody. */
  function look(robotId: RobotId): void {
    if (!isLost || !isDue(paused.get(robotId))) return;
    const place = placeAt(station.now().destinations, observations.sight(robotId));
    if (place.kind !== "coming" || place.goalsBefore > 0 || !place.isRunning) return;
    const pause: Pause = { state: "under_way", atMs: clock.monotonicMs() };
    paused.set(robotId, pause);
    void parts.pause(robotId, place.missionId).then((outcome) => {
      pause.state = hasStopFailed(outcome) ? "failed" : "done";
    });
  }

  return {
    begin() {
      isLost = true;
      for (const robotId of observations.robots()) look(robotId);
    },
    end() {
      isLost = false;
      paused = new Map();
    },
    look,
    tick() {
      for (const [robotId, { state }] of paused) if (state === "failed") look(robotId);
    },
  };
}
