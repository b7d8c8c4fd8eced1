import { type Finding, unwise } from "../finding.ts";
import type { OpcUaSection } from "./opcua.ts";
import type { RightsSection } from "./rights.ts";
import type { StationsSection } from "./stations.ts";

/** A user that may command robots, and has no number. */
interface Numberless {
  readonly name: string;
  /** Null: all robots. */
  readonly robots: readonly string[] | null;
}

/**
 * Two users without a number may both write one slot. `AcceptedByNo` names neither of them, and the start of
 * one is refused while the slot has a command of the other.
 */
export function numberlessFindings(
  opcua: OpcUaSection,
  { rights = [], stations = {} }: { readonly rights?: RightsSection; readonly stations?: StationsSection },
): readonly Finding[] {
  const { insecureLoopback: anonymous, users: named } = opcua;
  const accounts: Readonly<Record<string, { readonly role: string; readonly number?: number | undefined }>> =
    anonymous === undefined ? named : { anonymous, ...named };
  const users: Numberless[] = Object.entries(accounts).flatMap(([name, { role, number }]) =>
    role === "observer" || number !== undefined ? [] : numberless(name, rights),
  );
  const shareStation = (names: readonly string[]) =>
    Object.values(stations).some(({ users: listed, clients }) =>
      listed === undefined ? clients === undefined : names.every((name) => listed.includes(name)),
    );
  return users.flatMap((user, index) => {
    const other = users
      .slice(0, index)
      .find((each) => isOverlap(user.robots, each.robots) || shareStation([user.name, each.name]));
    if (other === undefined) return [];
    const message = `has no number, nor has ${other.name}, and both may write to one slot: a start of one is refused (1026) while the slot has a command of the other; give each a number`;
    return [unwise(["opcua", "users", user.name], message)];
  });
}

/** The user with the robots that its rules allow; none: they allow it to command no robot. */
function numberless(name: string, rights: RightsSection): readonly Numberless[] {
  const rules = rights.filter(
    ({ source }) => source.protocol === "opcua" && (source.name === name || source.name === "*"),
  );
  if (rules.length === 0) return [{ name, robots: null }];
  const acting = rules.filter(({ role }) => role !== "observer");
  if (acting.length === 0) return [];
  const isForAll = acting.some(({ robots }) => robots === undefined);
  return [{ name, robots: isForAll ? null : acting.flatMap(({ robots }) => robots ?? []) }];
}

function isOverlap(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return true;
  return a.some((robotId) => b.includes(robotId));
}
