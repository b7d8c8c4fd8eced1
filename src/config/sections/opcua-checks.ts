import { type Finding, together, unwise, wrong } from "../finding.ts";
import { isLoopback } from "../loopback.ts";
import type { OpcUaSection } from "./opcua.ts";

/** Connections whose session has no user yet (northbound/opcua, session bounds), and some that only ask. */
const SPARE_CONNECTIONS = 60;

/** Keys of `opcua` that contradict, or need, each other. */
export function opcUaFindings(opcua: OpcUaSection): readonly Finding[] {
  const findings: Finding[] = [
    ...aliasFindings(opcua),
    ...numberFindings(opcua),
    ...together(opcua, ["opcua"], "certificate", "key"),
  ];
  const open = opcua.insecureLoopback !== undefined;
  if (open && !isLoopback(opcua.listen.host)) {
    findings.push(
      wrong(
        ["opcua", "insecureLoopback"],
        "lets everybody in, so it needs a loopback address in opcua.listen.host",
      ),
    );
  }
  if (Object.hasOwn(opcua.users, "anonymous")) {
    findings.push(
      wrong(["opcua", "users", "anonymous"], "means a session without a user; choose another name"),
    );
  }
  if (!open && Object.keys(opcua.users).length === 0) {
    findings.push(unwise(["opcua"], "has no users: no client will get in"));
  }
  const { maxSessions, maxConnections } = opcua.limits;
  if (maxConnections < maxSessions + SPARE_CONNECTIONS) {
    findings.push(
      unwise(
        ["opcua", "limits", "maxConnections"],
        `is ${maxConnections}: fewer than ${maxSessions + SPARE_CONNECTIONS} (maxSessions and ${SPARE_CONNECTIONS}) keep clients out who have a session to come`,
      ),
    );
  }
  if (opcua.revocationLists === undefined) {
    const authority = (["authorities", "issuers"] as const).find((key) => opcua[key] !== undefined);
    if (authority !== undefined) {
      findings.push(
        unwise(
          ["opcua", authority],
          "has no revocationLists beside it: OPC UA refuses the clients of an authority without one",
        ),
      );
    }
  }
  return findings;
}

/** An alias takes the place of an id in node names: two robots of one name would be one node. */
function aliasFindings(opcua: OpcUaSection): readonly Finding[] {
  const owners = new Map(Object.keys(opcua.robots).map((robotId) => [robotId, robotId]));
  const findings: Finding[] = [];
  for (const [robotId, { alias }] of Object.entries(opcua.robots)) {
    if (alias === undefined || alias === robotId) continue;
    const owner = owners.get(alias);
    if (owner === undefined) owners.set(alias, robotId);
    else findings.push(wrong(["opcua", "robots", robotId, "alias"], `is the name of ${owner} already`));
  }
  return findings;
}

/** A number names one robot. */
function numberFindings(opcua: OpcUaSection): readonly Finding[] {
  const owners = new Map<number, string>();
  const findings: Finding[] = [];
  for (const [robotId, { number }] of Object.entries(opcua.robots)) {
    if (number === undefined) continue;
    const owner = owners.get(number);
    if (owner === undefined) owners.set(number, robotId);
    else findings.push(wrong(["opcua", "robots", robotId, "number"], `is the number of ${owner} already`));
  }
  return findings;
}
