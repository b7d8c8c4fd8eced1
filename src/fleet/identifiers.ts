import { identifierFault, isIdentifierNumber, quoted } from "../domain/foreign-text.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Log } from "../platform/log.ts";
import type { RobotChoice } from "./options.ts";

/** The kinds of identifiers of the service. */
export type TextIdentifier = "robot_id" | "mission_id" | "webhook_id";
export type NumberIdentifier = "task_chain_id" | "map_id" | "conveyor_index";

/**
 * Checks every identifier that the service sends before it becomes a key, a topic or a NodeId. An invalid one
 * is counted, and logged the first time of its kind.
 */
export interface IdentifierGate {
  /** Whether this text is valid. */
  text(kind: TextIdentifier, id: string): boolean;
  /** Whether this number is valid: chains and maps count from 1, conveyor indexes from 0. */
  number(kind: NumberIdentifier, id: number): boolean;
  /**
   * Whether messages of this robot are accepted: its id is valid, it was asked for, and there is room for it.
   */
  robot(robotId: RobotId): boolean;
  /** Counts and logs an identifier that is wrong for another reason. */
  refuse(kind: TextIdentifier | NumberIdentifier, id: string | number, problem: string): void;
  /** How many were refused since the start. */
  readonly refused: number;
}

/** The limit of the gateway: a service that invents names must not fill its memory. */
const MOST_ROBOTS = 10_000;
const least: Readonly<Record<NumberIdentifier, number>> = { task_chain_id: 1, map_id: 1, conveyor_index: 0 };

export function createIdentifierGate(
  robots: RobotChoice,
  log: Log,
  mostRobots = MOST_ROBOTS,
): IdentifierGate {
  const asked = robots.kind === "ids" ? new Set(robots.ids) : null;
  const known = new Set<RobotId>();
  const logged = new Set<string>();
  let refused = 0;

  function refuse(kind: TextIdentifier | NumberIdentifier, id: string | number, problem: string): false {
    refused += 1;
    if (!logged.has(kind)) {
      logged.add(kind);
      const fields = { kind, id: quoted(String(id)), problem };
      log.error(fields, "the service sent an identifier that cannot be one: what it names is left out");
    }
    return false;
  }

  function text(kind: TextIdentifier, id: string): boolean {
    const problem = identifierFault(id);
    return problem === null || refuse(kind, id, problem);
  }

  return {
    text,
    number: (kind, id) =>
      isIdentifierNumber(id, least[kind]) ||
      refuse(kind, id, `is no whole number from ${least[kind]} to 2147483647`),
    robot(robotId) {
      if (known.has(robotId)) return true;
      if (!text("robot_id", robotId)) return false;
      if (asked !== null && !asked.has(robotId)) return refuse("robot_id", robotId, "was not asked for");
      if (known.size >= mostRobots) {
        return refuse("robot_id", robotId, `is of more than ${mostRobots} robots`);
      }
      known.add(robotId);
      return true;
    },
    refuse: (kind, id, problem) => void refuse(kind, id, problem),
    get refused() {
      return refused;
    },
  };
}
