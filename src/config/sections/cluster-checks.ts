import { isLoopback } from "../../platform/url-host.ts";
import { type Finding, together, unwise, wrong } from "../finding.ts";
import { nearest } from "../issues.ts";
import { applicationUriOf } from "../key-pairs.ts";
import { fileAt, type NamedFiles } from "../named-files.ts";
import type { ConfigFile } from "../schema.ts";
import { type ClusterSection, ownOpcUaUri } from "./cluster.ts";

const MEMBERS = 2;
/** A majority of three is left when one is lost. */
const SAFE_ENDPOINTS = 3;

/** Keys of `cluster` that contradict each other, or other sections. */
export function clusterFindings(
  cluster: ClusterSection,
  { commands, fleet, mqtt, opcua }: Partial<ConfigFile>,
): readonly Finding[] {
  const findings: Finding[] = [
    ...memberFindings(cluster),
    ...(opcua === undefined ? [] : uriFindings(cluster)),
    ...etcdFindings(cluster.etcd),
  ];
  if (commands !== undefined && commands.evidenceMs < commands.callDeadlineMs)
    findings.push(
      wrong(
        ["commands", "evidenceMs"],
        `must be at least callDeadlineMs (${commands.callDeadlineMs}) with cluster: a call of the box that led before may arrive for so long`,
      ),
    );
  if (cluster.standby === "warm" && fleet?.events.kind === "webhook")
    findings.push(
      wrong(
        ["cluster", "standby"],
        "must be hot with fleet.events.kind: webhook, which has subscriptions of its own at all times",
      ),
    );
  if (mqtt?.broker === "embedded")
    findings.push(
      wrong(
        ["mqtt", "broker"],
        "is embedded, so it would be on one of the two boxes only: with cluster, write the URL of a broker of the plant",
      ),
    );
  return findings;
}

function memberFindings({ member, members }: ClusterSection): readonly Finding[] {
  const names = Object.keys(members);
  const findings: Finding[] = [];
  if (names.length !== MEMBERS)
    findings.push(wrong(["cluster", "members"], `must be ${MEMBERS} boxes; here are ${names.length}`));
  if (!Object.hasOwn(members, member)) {
    const meant = nearest(member, names);
    const advice = meant === undefined ? `the members are ${names.join(", ")}` : `the nearest is "${meant}"`;
    findings.push(wrong(["cluster", "member"], `is none of the members; ${advice}`));
  }
  return findings;
}

function uriFindings({ members }: ClusterSection): readonly Finding[] {
  const owners = new Map<string, string>();
  return Object.entries(members).flatMap(([name, { opcuaUri }]) => {
    if (opcuaUri === undefined)
      return [
        wrong(
          ["cluster", "members", name],
          "needs opcuaUri: with opcua, clients tell the servers of the boxes apart by it",
        ),
      ];
    const owner = owners.get(opcuaUri);
    owners.set(opcuaUri, name);
    return owner === undefined
      ? []
      : [wrong(["cluster", "members", name, "opcuaUri"], `is that of ${owner} too; each box needs its own`)];
  });
}

function etcdFindings(etcd: ClusterSection["etcd"]): readonly Finding[] {
  const path = ["cluster", "etcd"];
  const { endpoints } = etcd;
  const findings: Finding[] = [...together(etcd, path, "certificate", "key")];
  for (const [index, endpoint] of endpoints.entries())
    if (endpoints.indexOf(endpoint) < index)
      findings.push(wrong([...path, "endpoints", index], "is there twice"));
  if (endpoints.length < SAFE_ENDPOINTS)
    findings.push(
      unwise(
        [...path, "endpoints"],
        `are ${endpoints.length}: no safe failover is possible with two members of etcd, because the loss of one leaves no majority. Let a third machine vote`,
      ),
    );
  const remote = endpoints.find((endpoint) => !isLoopback(hostOf(endpoint)));
  const missing = (["ca", "certificate", "key"] as const).filter((key) => etcd[key] === undefined);
  if (remote !== undefined && missing.length > 0)
    findings.push(
      wrong(
        path,
        `needs ca, certificate and key, because ${remote} is on the network: anyone who can write to etcd can forge a leader and trusted clients`,
      ),
    );
  else if (etcd.ca === undefined && etcd.certificate !== undefined)
    findings.push(wrong([...path, "certificate"], "needs ca beside it"));
  return findings;
}

function hostOf(endpoint: string): string {
  return endpoint.slice(0, endpoint.lastIndexOf(":"));
}

/** A certificate of the plant's CA must be for the URI that the other box and clients know. */
export function ownUriFindings(
  { cluster, opcua }: Partial<ConfigFile>,
  files: NamedFiles,
): readonly Finding[] {
  const uri = ownOpcUaUri(cluster);
  const certificate = fileAt(files, "opcua", "certificate");
  const ofCertificate = certificate === null ? null : applicationUriOf(certificate.text);
  if (cluster === undefined || opcua === undefined || uri === null) return [];
  if (ofCertificate === null || ofCertificate === uri) return [];
  return [
    wrong(
      ["cluster", "members", cluster.member, "opcuaUri"],
      `must be ${ofCertificate}, which is the URI in opcua.certificate`,
    ),
  ];
}
