import type { FleetPort } from "../../contracts/fleet-port.ts";
import type { UpdateSink } from "../../contracts/stage.ts";
import type { MissionQueue } from "../../domain/mission.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import { requestOf } from "../operations/row.ts";
import type { FleetTimes } from "../options.ts";
import { type FamilyStore, type FoundFamily, transientFamilyStore } from "./family-store.ts";

/** The robots of the gateway, and the family of each as far as it is known. */
export interface RobotFamilies {
  has(robotId: RobotId): boolean;
  size(): number;
  /** Whether the robot was seen and its family is not known. */
  isUnknown(robotId: RobotId): boolean;
  /** A robot was seen, or is back. */
  meet(robotId: RobotId): void;
  /** The robot's messages show its family. A known family stays: a contradiction proves neither. */
  learn(robotId: RobotId, family: Family): void;
  /**
   * The service refuses the conveyors of this robot, as it does for all but carts. True: it was a cart only
   * by memory.
   */
  refusedAsCart(robotId: RobotId): boolean;
  /** How many robots wait for their family. */
  pending(): number;
  /** From now on families are asked for, and kept in the memory. */
  open(memory: FamilyStore, makeFinder: (listener: FamilyListener) => FamilyFinder): void;
}

export interface RobotFamiliesParts {
  readonly configured: ReadonlyMap<RobotId, Family>;
  readonly sink: UpdateSink;
  /** Called for each cart. A second call for the same cart does nothing. */
  readonly startConveyors: (robotId: RobotId) => void;
}

/**
 * The family comes from the configuration, from the robot's messages, or from the service's answer. A family
 * from an earlier start is not published before the service has confirmed it: for a cart, by its first
 * conveyor message.
 */
export function createRobotFamilies({ configured, sink, startConveyors }: RobotFamiliesParts): RobotFamilies {
  const families = new Map<RobotId, Family>();
  const recalledCarts = new Set<RobotId>();
  let memory = transientFamilyStore();
  let finder: FamilyFinder | null = null;

  function learn(robotId: RobotId, family: Family): void {
    if (family === "unknown" || families.get(robotId) !== "unknown") return;
    recalledCarts.delete(robotId);
    families.set(robotId, family);
    memory.note(robotId, family === "cart" ? "cart" : "other");
    sink({ kind: "robot", robotId, family });
    if (family === "cart") startConveyors(robotId);
  }

  /** The result of an earlier start saves the call, but proves nothing. */
  function findOut(robotId: RobotId): void {
    const recalled = memory.recall(robotId);
    if (recalled === null) finder?.ask(robotId);
    else if (recalled === "other") finder?.askAgain(robotId);
    else {
      recalledCarts.add(robotId);
      startConveyors(robotId);
    }
  }

  return {
    has: (robotId) => families.has(robotId),
    size: () => families.size,
    isUnknown: (robotId) => families.get(robotId) === "unknown",
    meet(robotId) {
      if (families.has(robotId)) {
        if (families.get(robotId) === "cart" || recalledCarts.has(robotId)) startConveyors(robotId);
        return;
      }
      const family = configured.get(robotId) ?? "unknown";
      families.set(robotId, family);
      sink({ kind: "robot", robotId, family });
      if (family === "cart") startConveyors(robotId);
      else if (family === "unknown") findOut(robotId);
    },
    learn,
    refusedAsCart(robotId) {
      if (!recalledCarts.delete(robotId)) return false;
      finder?.ask(robotId);
      return true;
    },
    pending: () => finder?.pending() ?? 0,
    open(kept, makeFinder) {
      memory = kept;
      const metBefore = [...families].filter(([, family]) => family === "unknown");
      finder = makeFinder({
        isKnown: (robotId) => families.get(robotId) !== "unknown",
        found(robotId, family) {
          if (family === "cart") learn(robotId, "cart");
          else memory.note(robotId, "other");
        },
      });
      for (const [robotId] of metBefore) findOut(robotId);
    },
  };
}

/**
 * The family that a robot's missions show. A mission of the cart or serve family runs on no other robot.
 * Every family takes base missions, so a base type shows nothing; nor does an unknown type, or two
 * contradicting ones.
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

/** Asks the service which robots are carts, if the configuration does not say so. */
export interface FamilyFinder {
  /** Asks about a robot until it is answered. A second call for the same robot does nothing. */
  ask(robotId: RobotId): void;
  /** Asks again about a robot that an earlier start found to be no cart: later, one robot a second. */
  askAgain(robotId: RobotId): void;
  /** How many robots wait for an answer to `ask`. */
  pending(): number;
}

interface FamilyFinderDependencies {
  readonly port: FleetPort;
  readonly times: FleetTimes;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly signal: AbortSignal;
}

interface FamilyListener {
  /** The service's answer about a robot. */
  found(robotId: RobotId, family: FoundFamily): void;
  /** Whether the family is known from another source by now: then the robot is not asked about. */
  isKnown(robotId: RobotId): boolean;
}

/** At 30 ms a round trip, a thousand robots take a second; a command behind them waits some 10 ms. */
const ASKED_AT_A_TIME = 32;
/** In a fleet of 1,000, a robot that was replaced by a cart is found within 17 minutes. */
const ASK_AGAIN_MS = 1_000;

/** `refused`: the service refuses to answer for this robot. `unsaid`: it could not be asked. */
type Answer = FoundFamily | "refused" | "unsaid";

export function createFamilyFinder(
  listener: FamilyListener,
  { port, times, clock, random, signal }: FamilyFinderDependencies,
): FamilyFinder {
  const queue: RobotId[] = [];
  const recalled: RobotId[] = [];
  const known = new Set<RobotId>();
  let askers = 0;
  let pending = 0;
  let isAskingAgain = false;

  /** A refused robot is asked about as seldom as its streams are opened. */
  async function askLater(robotId: RobotId): Promise<void> {
    if (await sleep(clock, times.refusedRetryMs, signal)) enqueue(robotId);
  }

  function enqueue(robotId: RobotId): void {
    queue.push(robotId);
    if (askers < ASKED_AT_A_TIME) void work();
  }

  function found(robotId: RobotId, family: FoundFamily): void {
    if (!signal.aborted && !listener.isKnown(robotId)) listener.found(robotId, family);
  }

  async function work(): Promise<void> {
    askers += 1;
    const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, random);
    for (let robotId = queue.shift(); robotId !== undefined && !signal.aborted; robotId = queue.shift()) {
      const answer = listener.isKnown(robotId) ? "other" : await askService(port, robotId, times.callMs);
      if (answer === "cart" || answer === "other") {
        backoff.reset();
        pending -= 1;
        found(robotId, answer);
        continue;
      }
      if (answer === "refused") void askLater(robotId);
      else queue.push(robotId);
      await sleep(clock, backoff.nextMs(), signal);
    }
    askers -= 1;
  }

  async function workAgain(): Promise<void> {
    isAskingAgain = true;
    while (recalled.length > 0 && (await sleep(clock, ASK_AGAIN_MS, signal))) {
      const robotId = recalled.shift() ?? "";
      if (listener.isKnown(robotId)) continue;
      const answer = await askService(port, robotId, times.callMs);
      if (answer === "cart" || answer === "other") found(robotId, answer);
      else recalled.push(robotId);
    }
    isAskingAgain = false;
  }

  return {
    ask(robotId) {
      if (known.has(robotId)) return;
      known.add(robotId);
      pending += 1;
      enqueue(robotId);
    },
    askAgain(robotId) {
      recalled.push(robotId);
      if (!isAskingAgain) void workAgain();
    },
    pending: () => pending,
  };
}

/** GetConveyorIndex is refused with INVALID_ARGUMENT to all but carts (docs/internals/service.md, ERR-32). */
async function askService(port: FleetPort, robotId: RobotId, deadlineMs: number): Promise<Answer> {
  const request = requestOf(FleetService.method.getConveyorIndex, { robotId });
  const ending = await port.call(request, deadlineMs);
  if (ending.kind === "ok") return "cart";
  if (ending.kind !== "refused") return "unsaid";
  return ending.code === "INVALID_ARGUMENT" ? "other" : "refused";
}
