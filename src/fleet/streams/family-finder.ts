import type { FleetPort } from "../../contracts/fleet-port.ts";
import type { MissionQueue } from "../../domain/mission.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { FleetTimes } from "../options.ts";

/**
 * The family that a robot's missions show. A mission of the cart or the serve family runs on no other robot. Every
 * family takes base missions, so a base type tells nothing; nor does a type that is unknown, or two that contradict.
 */
export function familyOf({ missions }: MissionQueue): Family {
  let found: Family = "unknown";
  for (const { type } of missions) {
    if (type === null || (type.family !== "cart" && type.family !== "serve")) continue;
    if (typeof type.type !== "string" || type.type.endsWith("_TYPE_UNKNOWN")) continue;
    if (found !== "unknown" && found !== type.family) return "unknown";
    found = type.family;
  }
  return found;
}

/** Finds out which robots are carts, where configuration does not say. */
export interface FamilyFinder {
  /** Asks for a robot, once; `onCart` is called if it is one. */
  ask(robotId: RobotId): void;
  /** Robots of which it is not known yet. */
  pending(): number;
}

export interface FamilyFinderParts {
  readonly port: FleetPort;
  readonly times: FleetTimes;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly signal: AbortSignal;
  readonly onCart: (robotId: RobotId) => void;
  /** Whether its family has been found out otherwise: it need not be asked about. */
  readonly isKnown: (robotId: RobotId) => boolean;
}

/** A thousand robots are asked about in a second at 30 ms a round trip; a command behind them waits some 10 ms. */
const ASKED_AT_A_TIME = 32;

/** GetConveyorIndex is refused with INVALID_ARGUMENT to all but carts (fleet-service-interface, Errors). */
export function createFamilyFinder(parts: FamilyFinderParts): FamilyFinder {
  const { port, times, clock, signal } = parts;
  const queue: RobotId[] = [];
  const known = new Set<RobotId>();
  let askers = 0;
  let pending = 0;

  /** `refused`: the service does not tell of this robot. `unsaid`: it could not be asked. */
  async function ask(robotId: RobotId): Promise<"cart" | "none" | "refused" | "unsaid"> {
    const ending = await port.call("GetConveyorIndex", JSON.stringify({ robotId }), times.callMs);
    if (ending.kind === "ok") return "cart";
    if (ending.kind !== "refused") return "unsaid";
    return ending.code === "INVALID_ARGUMENT" ? "none" : "refused";
  }

  /** A robot that is refused is asked for as seldom as its streams are. */
  async function askLater(robotId: RobotId): Promise<void> {
    if (await sleep(clock, times.refusedRetryMs, signal)) enqueue(robotId);
  }

  function enqueue(robotId: RobotId): void {
    queue.push(robotId);
    if (askers < ASKED_AT_A_TIME) void work();
  }

  async function work(): Promise<void> {
    askers += 1;
    const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, parts.chance);
    for (let robotId = queue.shift(); robotId !== undefined && !signal.aborted; robotId = queue.shift()) {
      const answer = parts.isKnown(robotId) ? "none" : await ask(robotId);
      if (answer === "cart" || answer === "none") {
        backoff.reset();
        pending -= 1;
        if (answer === "cart" && !signal.aborted) parts.onCart(robotId);
        continue;
      }
      if (answer === "refused") void askLater(robotId);
      else queue.push(robotId);
      await sleep(clock, backoff.nextMs(), signal);
    }
    askers -= 1;
  }

  return {
    ask(robotId) {
      if (known.has(robotId)) return;
      known.add(robotId);
      pending += 1;
      enqueue(robotId);
    },
    pending: () => pending,
  };
}
