import type { CommandRights } from "../../contracts/command-rights.ts";
import { type Role, roles, type Source } from "../../domain/command.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { RightsRule, StationOptions } from "./options.ts";

/** What is asked for. `robotId` is null when it concerns no single robot, or one that is not known. */
export interface RightsQuestion {
  readonly source: Source;
  /** Null: to lease or hold the robot, for which any operation that is allowed will do. */
  readonly operation: string | null;
  /** The role that the operation needs. */
  readonly role: Role;
  readonly robotId: RobotId | null;
}

/**
 * Null when a rule allows it; otherwise why not, by the rules that name the source.
 * Whoever no rule names is an observer of everything.
 */
export function refusedRight(rules: readonly RightsRule[], question: RightsQuestion): string | null {
  if (question.role === "observer" && !rules.some(({ source }) => isFor(source, question.source)))
    return null;
  const reasons: string[] = [];
  rules.forEach((rule, place) => {
    if (!isFor(rule.source, question.source)) return;
    const reason = shortfall(rule, question);
    reasons.push(reason === null ? "" : `rights[${place}] ${reason}`);
  });
  if (reasons.includes("")) return null;
  const who = `${question.source.door} "${question.source.name}"`;
  const why = reasons.length === 0 ? "no rule names it, so it may only read" : reasons.join("; ");
  const act = question.operation === null ? "command robots" : `send ${question.operation}`;
  return `${who} may not ${act}, which needs ${question.role}: ${why}`;
}

/** The rules without their robots: by these, whoever is refused may send the operation to no robot at all. */
export function rightsAnywhere(rules: readonly RightsRule[]): readonly RightsRule[] {
  return rules.map(({ robots: _robots, ...rule }) => rule);
}

/** The rights of sources before they have said which command. A station's own `users` go before the rules. */
export function commandRights(
  rules: readonly RightsRule[],
  stations: readonly StationOptions[],
): CommandRights {
  const anywhere = rightsAnywhere(rules);
  const some = { operation: null, role: "operator" } as const;
  return {
    refusedRobot: (source, robotId) => refusedRight(rules, { ...some, source, robotId }),
    refusedStation(source, station) {
      const users = stations.find(({ name }) => name === station)?.users;
      if (
        users !== undefined &&
        !users.some(({ door, name }) => door === source.door && name === source.name)
      ) {
        return `${source.door} "${source.name}" is not a user of station ${station}`;
      }
      return refusedRight(anywhere, { ...some, source, robotId: null });
    },
  };
}

function isFor(rule: RightsRule["source"], source: Source): boolean {
  return rule.door === source.door && (rule.name === "*" || rule.name === source.name);
}

/** What `rule` lacks for the question; null when it allows it. */
function shortfall(rule: RightsRule, { operation, role, robotId }: RightsQuestion): string | null {
  if (roles.indexOf(rule.role) < roles.indexOf(role)) return `makes it ${rule.role}`;
  if (operation !== null && rule.operations !== undefined && !rule.operations.includes(operation)) {
    return `names only ${rule.operations.join(", ")}`;
  }
  if (rule.robots !== undefined && (robotId === null || !rule.robots.includes(robotId))) {
    return `names only ${rule.robots.join(", ")}`;
  }
  return null;
}
