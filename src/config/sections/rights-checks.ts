import type { Catalogue } from "../../contracts/operation.ts";
import { roles } from "../../domain/command.ts";
import { type Finding, unwise, wrong } from "../finding.ts";
import { nearest } from "../nearest.ts";
import type { OpcUaSection } from "./opcua.ts";
import type { RightsSection } from "./rights.ts";

type Rule = RightsSection[number];

/** Operations that there are not, or that a rule's own role keeps from it. */
export function operationFindings(rights: RightsSection, catalogue: Catalogue): readonly Finding[] {
  return rights.flatMap((rule, index) =>
    (rule.operations ?? []).flatMap((name, place) => {
      const path = ["rights", index, "operations", place];
      const operation = catalogue.get(name);
      if (operation === undefined) {
        const known = nearest(name, [...catalogue.keys()]);
        return [wrong(path, `there is no operation "${name}"; the nearest is "${known}"`)];
      }
      if (roles.indexOf(rule.role) >= roles.indexOf(operation.role)) return [];
      return [unwise(path, `${name} needs ${operation.role}, and the rule makes it ${rule.role}`)];
    }),
  );
}

/** A user who may write tags at the OPC UA server, and whom no rule lets command: every command of it is refused. */
export function opcUaUserFindings(rights: RightsSection, opcua: OpcUaSection): readonly Finding[] {
  const names = (rule: Rule, user: string) =>
    rule.source.door === "opcua" && (rule.source.name === user || rule.source.name === "*");
  return Object.entries(opcua.users).flatMap(([user, { role }]) =>
    role === "observer" || rights.some((rule) => names(rule, user))
      ? []
      : [
          unwise(
            ["opcua", "users", user, "role"],
            `is ${role}, but no rule of rights names it: it may only read`,
          ),
        ],
  );
}
