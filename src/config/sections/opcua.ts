import { hostname } from "node:os";
import { z } from "zod";
import type { Rights } from "../../commands/options.ts";
import { roles } from "../../domain/command.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import {
  type KnownRobot,
  type OpcUaCertificate,
  type OpcUaOptions,
  type OpcUaTrustList,
  type OpcUaUser,
  type StationNode,
  defaultOpcUaLimits as usual,
} from "../../northbound/opcua/options.ts";
import type { Live, Now } from "../../platform/live.ts";
import { isPasswordHash } from "../../platform/password.ts";
import { certificatesIn } from "../../platform/tls-files.ts";
import { isLoopback } from "../../platform/url-host.ts";
import { count, file, identifier, listen, live } from "../fields.ts";
import { applicationUriOf, revocationListsIn } from "../key-pairs.ts";
import { fileAt, type NamedFiles } from "../named-files.ts";

/** Each takes one of `limits.maxConnections`. */
const MOST_REVERSE = 16;

const limits = z
  .strictObject({
    maxSessions: count(1, 10_000, usual.maxSessions, "Sessions."),
    maxSessionsPerUser: count(
      1,
      10_000,
      usual.maxSessionsPerUser,
      "Sessions of one user; a new one ends its longest idle one.",
    ),
    maxConnections: count(1, 10_000, usual.maxConnections, "Connections."),
    maxSubscriptions: count(1, 100_000, usual.maxSubscriptions, "Subscriptions of all sessions."),
    maxMonitoredItems: count(1, 10_000_000, usual.maxMonitoredItems, "Monitored items of all sessions."),
    maxRobots: count(1, 100_000, usual.maxRobots, "Robots with nodes."),
  })
  .prefault({})
  .describe("Bounds for clients. The defaults suit most plants.");

/** `opcua:` the OPC UA server. */
export const opcuaSection = z
  .strictObject({
    listen: listen(4840).prefault({}),
    hostname: z
      .string()
      .min(1)
      .optional()
      .describe("Name in endpoints. Default: localhost on loopback, else this machine's name."),
    alternateHostnames: z
      .array(z.string().min(1))
      .default([])
      .describe("Other names and addresses of this machine for clients."),
    certificate: live(
      file(
        "applicationCertificate",
        "Certificate with issuers, and key (PEM files). Default: the gateway makes its own.",
      ).optional(),
      ["changed"],
    ),
    key: live(file("privateKey", "Its key (PEM file).").optional(), ["changed"]),
    trustedCas: live(file("certificate", "CAs whose clients need no approval (PEM file).").optional()),
    issuers: live(file("certificate", "Issuers that only complete chains of clients (PEM file).").optional()),
    revocationLists: live(
      file("revocationList", "Revocation lists, one of each of these CAs and issuers (PEM file).").optional(),
    ),
    reverseConnect: live(
      z
        .array(
          z
            .string()
            .refine(isClientAddress, { error: "write opc.tcp://host:port, where the client listens" }),
        )
        .max(MOST_REVERSE)
        .refine((list) => new Set(list).size === list.length, { error: "the same entry is there twice" })
        .default([])
        .describe("Clients that listen for the gateway, as opc.tcp://scada:4841."),
    ),
    users: z
      .record(
        z.string(),
        live(
          z.strictObject({
            password: file("userPassword", "File of the password, or of its hash.").optional(),
            certificate: z
              .string()
              .regex(/^\s*(?:[0-9A-Fa-f][\s:]*){40}(?:(?:[0-9A-Fa-f][\s:]*){24})?$/, {
                error:
                  "write the thumbprint of a certificate: 40 hexadecimal digits (SHA-1), or 64 (SHA-256)",
              })
              .optional()
              .describe("Thumbprint of the certificate with which the user logs on instead."),
            role: z.enum(roles).describe("What the user may do."),
            number: z
              .int()
              .min(1)
              .max(2_147_483_647)
              .optional()
              .describe("The user in a slot's AcceptedByNo."),
            dryRun: z
              .boolean()
              .default(false)
              .describe("The gateway checks the user's commands, stops too, and sends none."),
          }),
        ),
      )
      .default({})
      .describe("Users, by name."),
    insecureLoopback: z
      .strictObject({
        role: z
          .enum(roles)
          .default("observer")
          .describe("INSECURE, for a demo: role of anonymous clients without encryption, on loopback only."),
      })
      .optional()
      .describe("INSECURE, for a demo."),
    robots: z
      .record(
        identifier(),
        live(
          z.strictObject({
            alias: z
              .string()
              .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: "use 1 to 64 letters, digits, - and _" })
              .optional()
              .describe(
                "Name of the node instead of the id. Every PLC takes a letter, then letters, digits and _, at most 24 in all.",
              ),
            number: z
              .int()
              .min(1)
              .max(2_147_483_647)
              .optional()
              .describe("The robot in a station's RobotNo."),
            conveyors: z
              .array(z.int().min(0).max(255))
              .default([])
              .describe("Indexes that have nodes before the first message."),
          }),
          ["added"],
        ),
      )
      .default({})
      .describe("Robots with nodes from the start, by robot_id; those of fleet.robots have them anyway."),
    destinations: live(
      z
        .record(
          z.string().regex(/^[1-9]\d{0,8}$/, { error: "use a number from 1 to 999999999" }),
          z.string().min(1).max(254),
        )
        .default({})
        .describe("Destinations by number, for DestinationNo."),
    ),
    missionSlots: count(1, 2, 1, "Mission slots of each robot. 2 adds MissionSlot2, for an HMI."),
    limits,
  })
  .describe("OPC UA.");

/** `opc.tcp://host:port`; no port is usual for a client. */
function isClientAddress(text: string): boolean {
  const port = /^opc\.tcp:\/\/(?:\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]]+):(\d{1,5})$/.exec(text)?.[1];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535 && URL.canParse(text);
}

export type OpcUaSection = z.output<typeof opcuaSection>;

/** Who the server is. `memberUri`: its application URI by `cluster`; null: its own choice. */
interface OpcUaIdentity {
  readonly id: string;
  readonly dataDir: string;
  readonly memberUri: string | null;
}

/** What the section and its files say, as the OPC UA server wants it. */
export function opcUaOptions(
  section: OpcUaSection,
  gateway: OpcUaIdentity,
  fleet: {
    readonly robots?: readonly RobotId[] | undefined;
    readonly families: Readonly<Record<RobotId, Family>>;
  },
  stations: readonly StationNode[],
  files: NamedFiles,
): Now<OpcUaOptions> {
  const { host, port } = section.listen;
  return {
    host,
    port,
    hostname: section.hostname ?? (isLoopback(host) ? "localhost" : hostname()),
    isHostnameAssumed: section.hostname === undefined,
    alternateHostnames: section.alternateHostnames,
    applicationUri: applicationUri(gateway, files),
    certificate: certificate(files),
    trustList: trustList(files),
    dataDir: gateway.dataDir,
    reverseConnect: section.reverseConnect,
    users: users(section, files),
    insecureLoopback: section.insecureLoopback ?? null,
    stations,
    destinations: new Map(
      Object.entries(section.destinations).map(([number, name]) => [Number(number), name]),
    ),
    missionSlots: section.missionSlots,
    ...(gateway.memberUri === null ? {} : { isClustered: true }),
    robots: knownRobots(section, fleet.robots ?? [], fleet.families),
    limits: section.limits,
  };
}

/** The options of a running gateway, of which a reload changes some. */
export function runningOpcUa(live: Live<Now<OpcUaOptions>>): OpcUaOptions {
  return {
    ...live.now(),
    certificate: live.pick(({ certificate }) => certificate),
    trustList: live.pick(({ trustList }) => trustList),
    reverseConnect: live.pick(({ reverseConnect }) => reverseConnect),
    users: live.pick(({ users }) => users),
    robots: live.pick(({ robots }) => robots),
    stations: live.pick(({ stations }) => stations),
    destinations: live.pick(({ destinations }) => destinations),
  };
}

/** A certificate of the plant's CA names the application; ours is named for box or gateway. */
function applicationUri({ id, memberUri }: OpcUaIdentity, files: NamedFiles): string {
  const configured = fileAt(files, "opcua", "certificate");
  return (
    (configured === null ? null : applicationUriOf(configured.text)) ?? memberUri ?? `urn:fleetgate:${id}`
  );
}

function certificate(files: NamedFiles): OpcUaCertificate | null {
  const [file, key] = [fileAt(files, "opcua", "certificate"), fileAt(files, "opcua", "key")];
  return file === null || key === null
    ? null
    : { certificateFile: file.path, keyFile: key.path, text: file.text };
}

function trustList(files: NamedFiles): OpcUaTrustList {
  const text = (key: "trustedCas" | "issuers" | "revocationLists") => fileAt(files, "opcua", key)?.text ?? "";
  return {
    trusted: certificatesIn(text("trustedCas")),
    issuers: certificatesIn(text("issuers")),
    revocationLists: revocationListsIn(text("revocationLists")),
  };
}

function users(section: OpcUaSection, files: NamedFiles): readonly OpcUaUser[] {
  return Object.entries(section.users).map(([name, user]) => {
    const { role, number, dryRun, password, certificate } = user;
    const text = fileAt(files, "opcua", "users", name, "password")?.text ?? "";
    const kind = isPasswordHash(text) ? "scrypt" : "plain";
    return {
      name,
      role,
      number: number ?? null,
      isDryRun: dryRun,
      secret: password === undefined ? { kind: "none" } : { kind, text },
      ...(certificate === undefined ? {} : { certificate: thumbprintIn(certificate) }),
    };
  });
}

/** As tools show it, with colons or spaces, in either case. */
export function thumbprintIn(text: string): string {
  return text.replaceAll(/[\s:]/g, "").toLowerCase();
}

function knownRobots(
  section: OpcUaSection,
  fleetRobots: readonly RobotId[],
  families: Readonly<Record<RobotId, Family>>,
): readonly KnownRobot[] {
  const ids = new Set([...fleetRobots, ...Object.keys(section.robots)]);
  return [...ids].map((robotId) => ({
    robotId,
    alias: section.robots[robotId]?.alias ?? null,
    number: section.robots[robotId]?.number ?? null,
    family: families[robotId] ?? "unknown",
    conveyorIndexes: section.robots[robotId]?.conveyors ?? [],
  }));
}

/** The robots that the configuration names, with their aliases. */
export function namedRobots(
  section: OpcUaSection | undefined,
  fleetRobots: readonly RobotId[] = [],
): ReadonlyArray<Pick<KnownRobot, "robotId" | "alias">> {
  const described = section?.robots ?? {};
  const ids = new Set([...fleetRobots, ...Object.keys(described)]);
  return [...ids].map((robotId) => ({ robotId, alias: described[robotId]?.alias ?? null }));
}

/** The users of the section with their roles, for the check of rights. */
export function opcUaAccounts(section: OpcUaSection | undefined): Rights["accounts"] {
  if (section === undefined) return [];
  const { users, insecureLoopback } = section;
  return [
    ...Object.entries(users).map(([name, { role }]) => ({
      source: { protocol: "opcua", name } as const,
      role,
      key: `opcua.users.${name}.role`,
    })),
    ...(insecureLoopback === undefined
      ? []
      : [
          {
            source: { protocol: "opcua", name: "anonymous" } as const,
            role: insecureLoopback.role,
            key: "opcua.insecureLoopback.role",
          },
        ]),
  ];
}
