import { z } from "zod";
import type { ClusterOptions } from "../../cluster/options.ts";
import { count, file, hostPort, shortName } from "../fields.ts";
import { fileAt, type NamedFiles } from "../named-files.ts";

const MOST_ENDPOINTS = 7;
const MOST_ARGUMENTS = 50;

const memberName = z.string().regex(shortName, {
  error: "use 1 to 63 letters, digits, - and _, the first a letter or digit",
});

const member = z.strictObject({
  opcuaUri: z
    .string()
    .regex(/^[a-z][a-z0-9+.-]*:[^\s,]+$/i, { error: "write a URI, as urn:box-a:fleetgate:hall-1" })
    .optional()
    .describe(
      "Application URI of the box's OPC UA server, unique. Needed with opcua; opcua.certificate must name it.",
    ),
  opcuaUrl: z
    .string()
    .regex(/^opc\.tcp:\/\/[^\s/]+:\d{1,5}$/i, { error: "write opc.tcp://host:port" })
    .optional()
    .describe("Address of that server for clients, in FindServers of the other box."),
});

/** `cluster:` two boxes that are one gateway, and etcd, which they share. */
export const clusterSection = z
  .strictObject({
    name: memberName.describe("Name of the cluster. Its keys in etcd begin with /fleetgate/<name>/."),
    member: memberName.describe("This box: one of members, which both configurations name in one order."),
    members: z
      .record(memberName, member)
      .describe("The two boxes, by name, in the same order in both configurations."),
    etcd: z
      .strictObject({
        endpoints: z
          .array(
            hostPort(
              "host:port of a member of etcd.",
              "write host:port, without a scheme: with ca, the connection is TLS",
            ),
          )
          .min(1)
          .max(MOST_ENDPOINTS)
          .describe("Every member of etcd: three, on three machines."),
        ca: file(
          "certificate",
          "CA of etcd's certificates (PEM file). Needed beyond loopback, as are certificate and key.",
        ).optional(),
        certificate: file(
          "certificate",
          "The gateway's certificate and key for etcd (PEM files).",
        ).optional(),
        key: file("privateKey", "Its key (PEM file).").optional(),
      })
      .describe("The store of the boxes."),
    leaseSeconds: count(3, 30, 5, "How long a leader may be silent before the other box takes over."),
    standby: z
      .enum(["hot", "warm"])
      .default("hot")
      .describe(
        "hot: the other box has a session and live values. warm: it opens one to take over, or for a stop.",
      ),
    fence: z
      .strictObject({
        command: z
          .array(z.string())
          .min(1)
          .max(MOST_ARGUMENTS)
          .refine(([program = ""]) => program.startsWith("/"), {
            error: "begin with the path of a program, as /etc/fleetgate/fence: no shell reads it",
          })
          .describe(
            "Program and arguments: cuts the power of the box that FLEETGATE_FENCE_MEMBER names, and ends with 0 when that is off.",
          ),
        timeoutSeconds: count(1, 300, 30, "After this time it has failed."),
      })
      .optional()
      .describe("Cuts the power of the other box."),
  })
  .describe("Two boxes that are one gateway.");

export type ClusterSection = z.output<typeof clusterSection>;

/** What the section and its files say, as the cluster wants it. */
export function clusterOptions(section: ClusterSection, files: NamedFiles): ClusterOptions {
  const { name, member: own, members, etcd, leaseSeconds, standby, fence } = section;
  return {
    name,
    member: own,
    members: Object.entries(members).map(([each, { opcuaUri = null, opcuaUrl }]) => ({
      name: each,
      opcuaUri,
      ...(opcuaUrl === undefined ? {} : { opcuaUrl }),
    })),
    etcd: { endpoints: etcd.endpoints, tls: tls(files) },
    leaseMs: leaseSeconds * 1_000,
    standby,
    fence: fence ? { command: fence.command, timeoutMs: fence.timeoutSeconds * 1_000 } : null,
  };
}

/** The application URI of this box; null: the section gives none. */
export function ownOpcUaUri(section: ClusterSection | undefined): string | null {
  if (section === undefined || !Object.hasOwn(section.members, section.member)) return null;
  return section.members[section.member]?.opcuaUri ?? null;
}

function tls(files: NamedFiles): ClusterOptions["etcd"]["tls"] {
  const [ca, certificate, key] = (["ca", "certificate", "key"] as const).map((name) =>
    fileAt(files, "cluster", "etcd", name),
  );
  if (!ca) return null;
  return {
    ca: ca.text,
    client: certificate && key ? { certificate: certificate.text, key: key.text } : null,
  };
}
