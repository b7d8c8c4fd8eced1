import type { CommandRights } from "../contracts/commander.ts";
import type { Operation, ParsedRequest } from "../contracts/operation.ts";
import { type Role, roles, type Source, sameSource } from "../domain/command.ts";
import { quoted } from "../domain/foreign-text.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Live } from "../platform/live.ts";
import type { AcceptedCommand } from "./intake/request.ts";
import type { AccountRole, Rights, RightsRule, StationOptions } from "./options.ts";

/**
 * The source of the gateway's own commands, which need no right. Compared by identity: no protocol can forge
 * it.
 */
export const gatewaySource: Source = { protocol: "gateway", name: "fleetgate" };

/** One part of what a source may do; its grants add up. */
export interface Grant {
  readonly role: Role;
  /** Null: all, and commands that concern no single robot. */
  readonly robots: readonly RobotId[] | null;
  /** Null: all of the role. */
  readonly operations: readonly string[] | null;
  /** The keys of the configuration that give the role, and that bound it. */
  readonly roleBy: string;
  readonly boundBy: string;
}

/** A question about a right. `robotId` is null if it concerns no single robot, or an unknown one. */
export interface RightsQuestion {
  readonly source: Source;
  /** Null: to lease or hold the robot, which needs the right to any operation on it. */
  readonly operation: string | null;
  /** The name of the act in a refusal if `operation` is null; "command robots" by default. */
  readonly act?: string;
  /** The role that the operation needs. */
  readonly role: Role;
  readonly robotId: RobotId | null;
}

/**
 * The rights of a source besides reading, which every source may. A user with a role of its own may do what
 * that role may, as far as the rules that name it allow; without such rules, all of it. Other sources have
 * what the rules that name them give.
 */
export function grantsOf({ rules, accounts }: Rights, source: Source): readonly Grant[] {
  const account = accounts.find((each) => sameSource(each.source, source));
  const grants = rules.flatMap((rule, index) =>
    isFor(rule.source, source) ? [grantOf(rule, `rights[${index}]`, account)] : [],
  );
  if (account === undefined || grants.length > 0) return grants;
  const { role, key: roleBy, bound } = account;
  return [{ role, robots: bound?.robots ?? null, operations: null, roleBy, boundBy: bound?.key ?? roleBy }];
}

/** Null: it is allowed; otherwise why not, with the keys of the configuration that decide it. */
export function refusedRight(rights: Rights, question: RightsQuestion): string | null {
  const { role, source, operation } = question;
  if (role === "observer") return null;
  const reasons: string[] = [];
  for (const grant of grantsOf(rights, source)) {
    const reason = shortfall(grant, question);
    if (reason === null) return null;
    if (!reasons.includes(reason)) reasons.push(reason);
  }
  const who = `${source.protocol} "${source.name}"`;
  const why = reasons.length === 0 ? unnamed(question) : reasons.join("; ");
  const act = operation === null ? (question.act ?? "command robots") : `send ${operation}`;
  return `${who} may not ${act}, which needs ${role}: ${why}`;
}

function unnamed({ source: { protocol, name }, role }: RightsQuestion): string {
  const rule = `rights: [{source: {protocol: ${protocol}, name: ${JSON.stringify(name)}}, role: ${role}}]`;
  return `no rule names it, so it may only read; in the configuration, ${rule} would allow it`;
}

/**
 * Why a source may not send a request; null: it may. A robot that is named by its number, or by its chain, is
 * looked up later: the dispatcher asks again when it knows the robot.
 */
export function refusedRequest(
  rights: Rights,
  anywhere: Rights,
  source: Source,
  { name: operation, role }: Operation,
  { subject }: ParsedRequest,
): string | null {
  const isLater = subject.kind === "robot_number" || subject.kind === "task_chain";
  const robotId = subject.kind === "robot" ? subject.robotId : null;
  return refusedRight(isLater ? anywhere : rights, { source, operation, role, robotId });
}

/** The rest of that check, once a command's robot is known; null: it may be sent. */
export function refusedOnRobot(
  rights: Rights,
  { command, operation, request }: AcceptedCommand,
  robotId: RobotId | null,
): string | null {
  const { kind } = request.subject;
  if (command.source === gatewaySource || kind === "robot" || kind === "fleet") return null;
  const { name, role } = operation;
  return refusedRight(rights, { source: command.source, operation: name, role, robotId });
}

/**
 * The rights without their robots: if these refuse a source, it may send the operation to no robot at all.
 */
export function rightsAnywhere(rights: Live<Rights>): Live<Rights> {
  return rights.pick(({ rules, accounts }) => ({
    rules: rules.map(withoutRobots),
    accounts: accounts.map(withoutBound),
  }));
}

function withoutBound({ bound: _bound, ...account }: AccountRole): AccountRole {
  return account;
}

function withoutRobots({ robots: _robots, ...rule }: RightsRule): RightsRule {
  return rule;
}

/** Role and robots of a user's own section are the most that a rule can give it. */
function grantOf(rule: RightsRule, key: string, account: AccountRole | undefined): Grant {
  const isCapped = account !== undefined && rank(account.role) < rank(rule.role);
  return {
    role: isCapped ? account.role : rule.role,
    robots: robotsOf(rule, account?.bound?.robots),
    operations: rule.operations ?? null,
    roleBy: isCapped ? account.key : key,
    boundBy: rule.robots === undefined ? (account?.bound?.key ?? key) : key,
  };
}

/** The robots of the rule that are among the user's own; null: all. */
function robotsOf({ robots }: RightsRule, own: readonly RobotId[] | undefined): Grant["robots"] {
  if (robots === undefined) return own ?? null;
  return own === undefined ? robots : robots.filter((robotId) => own.includes(robotId));
}

function rank(role: Role): number {
  return roles.indexOf(role);
}

/** The rights of sources before they have said which command. A station's own `users` go before the rules. */
export function commandRights(
  rights: Live<Rights>,
  stations: Live<readonly StationOptions[]>,
): CommandRights {
  const anywhere = rightsAnywhere(rights);
  const some = { operation: null, role: "operator" } as const;
  return {
    refusedRobot: (source, robotId) => refusedRight(rights.now(), { ...some, source, robotId }),
    refusedOperation: (source, operation, role) =>
      refusedRight(anywhere.now(), { source, operation, role, robotId: null }),
    refusedLift: (source, robotId) => refusedLift(rights.now(), source, robotId),
    refusedStation(source, station) {
      const known = stations.now().find(({ name }) => name === station);
      if (known === undefined) return `there is no station ${quoted(station)}`;
      return (
        refusedStationUser(known, source) ?? refusedRight(anywhere.now(), { ...some, source, robotId: null })
      );
    },
  };
}

/** Why a source may not lift another user's hold on the robot, or (null) on all robots; null: it may. */
export function refusedLift(rights: Rights, source: Source, robotId: RobotId | null): string | null {
  return refusedRight(rights, { source, operation: "the end of another's hold", role: "engineer", robotId });
}

/** Why a source may not use a station that names its users; null: it may. */
export function refusedStationUser({ name, users }: StationOptions, source: Source): string | null {
  if (users === undefined || users.some((user) => sameSource(user, source))) return null;
  return `${source.protocol} "${source.name}" is not a user of station ${name}`;
}

function isFor(rule: RightsRule["source"], source: Source): boolean {
  return rule.protocol === source.protocol && (rule.name === "*" || rule.name === source.name);
}

/** What `grant` lacks for the question; null: nothing. */
function shortfall(grant: Grant, { role, operation, robotId }: RightsQuestion): string | null {
  if (rank(grant.role) < rank(role)) return `${grant.roleBy} makes it ${grant.role}`;
  if (operation !== null && grant.operations !== null && !grant.operations.includes(operation)) {
    return `${grant.boundBy} names only ${grant.operations.join(", ")}`;
  }
  if (grant.robots !== null && (robotId === null || !grant.robots.includes(robotId))) {
    return `${grant.boundBy} names only ${grant.robots.join(", ")}`;
  }
  return null;
}
