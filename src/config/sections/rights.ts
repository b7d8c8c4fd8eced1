import { z } from "zod";
import type { Rights } from "../../commands/options.ts";
import type { Catalogue } from "../../contracts/operation.ts";
import { type Protocol, roles, sameSource } from "../../domain/command.ts";
import { live, names } from "../fields.ts";
import { type Finding, unwise, wrong } from "../finding.ts";
import { nearest } from "../issues.ts";
import { type ProtocolSections, unknownUserFindings } from "./known-users.ts";

const protocols = ["mqtt", "opcua", "web", "cli"] as const satisfies readonly Protocol[];

/** `rights:` who may send which commands. Everybody may read. */
export const rightsSection = live(
  z
    .array(
      z.strictObject({
        source: z
          .strictObject({
            protocol: z.enum(protocols).describe("How the command comes in."),
            name: z.string().min(1).describe('The MQTT client, or the user of OPC UA or web; "*" for any.'),
          })
          .describe("Who."),
        role: z.enum(roles).describe("What the source may do."),
        robots: names("Only for these robots, by robot_id. Default: all.").min(1).optional(),
        operations: names("Only these operations. Default: all of the role.").min(1).optional(),
      }),
    )
    .default([])
    .describe("Who may send what. For users of opcua and web, rules only narrow their own role."),
);

export type RightsSection = z.output<typeof rightsSection>;

/** Operations that do not exist, or that the role of the rule does not allow. */
export function operationFindings(rights: RightsSection, catalogue: Catalogue): readonly Finding[] {
  return rights.flatMap((rule, index) =>
    (rule.operations ?? []).flatMap((name, place) => {
      const path = ["rights", index, "operations", place];
      const operation = catalogue.get(name);
      if (operation === undefined) {
        const meant = nearest(name, [...catalogue.keys()]);
        const advice =
          meant === undefined ? "fleetgate call --list has them all" : `the nearest is "${meant}"`;
        return [wrong(path, `there is no operation "${name}"; ${advice}`)];
      }
      if (roles.indexOf(rule.role) >= roles.indexOf(operation.role)) return [];
      return [unwise(path, `${name} needs ${operation.role}, and the rule makes it ${rule.role}`)];
    }),
  );
}

/** Rules that give a user more than its own role: that role is the most that it has. */
export function ownRoleFindings(rights: RightsSection, accounts: Rights["accounts"]): readonly Finding[] {
  return rights.flatMap(({ source, role }, index) => {
    const own = accounts.find((account) => sameSource(account.source, source));
    if (own === undefined || roles.indexOf(role) <= roles.indexOf(own.role)) return [];
    return [
      unwise(
        ["rights", index, "role"],
        `is ${role}, but ${own.key} makes it ${own.role}: it has no more than that`,
      ),
    ];
  });
}

/** Rules for a user or client that cannot send a command: most likely misspelt. */
export function rightsUserFindings(rights: RightsSection, sections: ProtocolSections): readonly Finding[] {
  return rights.flatMap(({ source: { protocol, name } }, index) =>
    name === "*" ? [] : unknownUserFindings(["rights", index, "source", "name"], protocol, name, sections),
  );
}
