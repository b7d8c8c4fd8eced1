import { z } from "zod";
import type { Rights } from "../../commands/options.ts";
import type { Catalogue } from "../../contracts/operation.ts";
import { type Protocol, roles, sameSource } from "../../domain/command.ts";
import { OPEN_USER } from "../../northbound/web/options.ts";
import { live, names } from "../fields.ts";
import { type ConfigPath, type Finding, unwise, wrong } from "../finding.ts";
import { nearest } from "../issues.ts";
import type { ControlSection } from "./gateway.ts";
import type { MqttSection } from "./mqtt.ts";
import { type OpcUaSection, opcUaAccounts } from "./opcua.ts";
import { type WebSection, webAccounts } from "./web.ts";

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
        robots: names("Only for these robots, by robot_id. Default: all, which it may also hold at once.")
          .min(1)
          .optional(),
        operations: names("Only these commands; acts, as holds, need no listing. Default: all of the role.")
          .min(1)
          .optional(),
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

/** The sections that list users and clients; undefined: the protocol is off. */
export interface ProtocolSections {
  readonly opcua?: OpcUaSection | undefined;
  readonly mqtt?: MqttSection | undefined;
  readonly control?: ControlSection | undefined;
  readonly web?: WebSection | undefined;
}

/**
 * Finds the names at `path` that can never send a command by `protocol`. A name that its section does not
 * have is a mistake. If the protocol is off, it is only a warning, so that the protocol can be switched off
 * by removing its section.
 */
export function unknownUserFindings(
  path: ConfigPath,
  protocol: Protocol,
  name: string,
  sections: ProtocolSections,
): readonly Finding[] {
  const off = whyOff(protocol, name, sections);
  if (off !== null) return [unwise(path, `${JSON.stringify(name)} can send nothing: ${off}`)];
  const known = knownUsers(protocol, sections);
  if (known === null || known.names.includes(name)) return [];
  const names = known.names.length === 0 ? "it has none" : `it has ${known.names.join(", ")}`;
  return [wrong(path, `${JSON.stringify(name)} is no user of ${known.key}; ${names}`)];
}

function whyOff(
  protocol: Protocol,
  name: string,
  { opcua, mqtt, web, control }: ProtocolSections,
): string | null {
  switch (protocol) {
    case "opcua":
      return opcua === undefined ? "there is no section opcua" : null;
    case "mqtt":
      return mqtt === undefined ? "there is no section mqtt" : null;
    case "cli":
      return control?.enabled === false ? "control.enabled is false" : null;
    case "web":
      if (web === undefined) return "there is no section web";
      return webAccounts(web).length === 0 && name !== OPEN_USER
        ? `web has no users and no tokens, and everybody is ${OPEN_USER}`
        : null;
  }
}

/** Null: the configuration does not list the names, as for an open broker and the machine's users. */
function knownUsers(
  protocol: Protocol,
  { opcua, mqtt, web }: ProtocolSections,
): { readonly names: readonly string[]; readonly key: string } | null {
  switch (protocol) {
    case "opcua":
      return { names: opcUaAccounts(opcua).map(({ source }) => source.name), key: "opcua.users" };
    case "mqtt":
      return mqtt === undefined ? null : mqttUsers(mqtt);
    case "web":
      return webUsers(web);
    case "cli":
      return null;
  }
}

function webUsers(web: WebSection | undefined): ReturnType<typeof knownUsers> {
  const names = webAccounts(web).map(({ source }) => source.name);
  return names.length === 0 ? null : { names, key: "web.users and web.tokens" };
}

function mqttUsers({ broker, users, anonymousLoopback }: MqttSection): ReturnType<typeof knownUsers> {
  if (broker !== "embedded" || anonymousLoopback) return null;
  return { names: Object.keys(users ?? {}), key: "mqtt.users" };
}
