import type { UpdateSink } from "../../contracts/stage.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import type { FamilyFinder, FamilyListener } from "./family-finder.ts";
import { type FamilyStore, transientFamilyStore } from "./family-store.ts";

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
