import type { Rights } from "../commands/options.ts";
import { type Grant, grantsOf } from "../commands/rights.ts";
import type { Config } from "../config/load.ts";
import type { DescribedOperation, OperationManual } from "../contracts/operation-manual.ts";
import { type Role, roles, type Source } from "../domain/command.ts";
import { effectsOf } from "./operation-facts.ts";
import { some, wrapped } from "./report-text.ts";

/** Means every name that is not in the configuration. */
const ANY_OTHER = "*";

/** The rights of each user and client of each protocol, by the same rules as for commands. */
export function rightsLines(config: Config, manual: OperationManual): readonly string[] {
  return [
    ...sourcesOf(config).flatMap((source) => sourceLines(source, config.rights, manual)),
    "everybody reads, of all robots:",
    ...indented(wrapped(namesOf([...manual.values()].filter(({ role }) => role === "observer")))),
  ];
}

/** The sources in the configuration, and at the end of each protocol all others that it admits. */
function sourcesOf({ opcua, mqtt, web, control, rights }: Config): readonly Source[] {
  const named = (protocol: Source["protocol"]) =>
    rights.rules.flatMap(({ source }) => (source.protocol === protocol ? [source.name] : []));
  const accountsOf = (protocol: Source["protocol"]) =>
    rights.accounts.flatMap(({ source }) => (source.protocol === protocol ? [source.name] : []));
  const clients = mqtt?.broker.kind === "embedded" ? mqtt.broker.users.map(({ name }) => name) : [];
  const isOpen = mqtt !== null && (mqtt.broker.kind === "external" || mqtt.broker.anonymousLoopback);
  const names: ReadonlyArray<readonly [Source["protocol"], readonly string[]]> = [
    ["opcua", opcua === null ? [] : accountsOf("opcua")],
    ["mqtt", mqtt === null ? [] : [...clients, ...named("mqtt"), ...(isOpen ? [ANY_OTHER] : [])]],
    ["web", web === null ? [] : webNames(accountsOf("web"), named("web"))],
    ["cli", control === null ? [] : [...named("cli"), ANY_OTHER]],
  ];
  return names.flatMap(([protocol, all]) => {
    const single = [...new Set(all)].filter((name) => name !== ANY_OTHER);
    return [...single, ...(all.includes(ANY_OTHER) ? [ANY_OTHER] : [])].map((name) => ({
      protocol: protocol,
      name,
    }));
  });
}

/** Without users and tokens, only rules give more than reading. */
function webNames(accounts: readonly string[], ruled: readonly string[]): readonly string[] {
  return accounts.length === 0 ? ruled : accounts;
}

function sourceLines(source: Source, rights: Rights, manual: OperationManual): readonly string[] {
  const grants = grantsOf(rights, source);
  const who = `${source.protocol} ${source.name === ANY_OTHER ? "anybody else" : source.name}`;
  const useful = grants.filter(({ role }) => role !== "observer");
  const [first = "no rule names it"] = grants.map(({ role, roleBy }) => `${role} by ${roleBy}`);
  if (useful.length === 0) return [`${who}: only reads (${first})`];
  return useful.flatMap((grant) => [
    `${who}: ${grant.role} by ${grant.roleBy}, ${grant.robots === null ? "all robots" : some(grant.robots)}`,
    ...indented(wrapped(namesOf(operationsOf(grant, manual)))),
  ]);
}

/** The operations that a grant adds to those of every source. */
function operationsOf({ role, operations }: Grant, manual: OperationManual): readonly DescribedOperation[] {
  const isWithin = (needed: Role) => needed !== "observer" && roles.indexOf(needed) <= roles.indexOf(role);
  return [...manual.values()].filter(
    (operation) => isWithin(operation.role) && (operations?.includes(operation.name) ?? true),
  );
}

function namesOf(operations: readonly DescribedOperation[]): readonly string[] {
  return operations.map((operation) => `${operation.name} (${effectsOf(operation).join(", ")})`);
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}
