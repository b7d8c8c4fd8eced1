import { bareHost, isLoopback } from "../../platform/url-host.ts";
import { type Finding, together, unwise, wrong } from "../finding.ts";
import { type OpcUaSection, thumbprintIn } from "./opcua.ts";

/**
 * Connections whose session has no user yet (northbound/opcua, session bounds), and some that only list
 * endpoints.
 */
const SPARE_CONNECTIONS = 60;

/** Keys of `opcua` that contradict, or need, each other. */
export function opcUaFindings(opcua: OpcUaSection): readonly Finding[] {
  const findings: Finding[] = [
    ...aliasFindings(opcua),
    ...numberFindings(opcua),
    ...userFindings(opcua),
    ...userNumberFindings(opcua),
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
  findings.push(...ownReverseFindings(opcua));
  if (open) findings.push(...openReverseFindings(opcua));
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
    const caKey = (["trustedCas", "issuers"] as const).find((key) => opcua[key] !== undefined);
    if (caKey !== undefined) {
      findings.push(
        unwise(
          ["opcua", caKey],
          "has no revocationLists beside it: OPC UA refuses the clients of a CA without one",
        ),
      );
    }
  }
  return findings;
}

/** The gateway would connect to itself, and no client would ever open a session. */
function ownReverseFindings(section: OpcUaSection): readonly Finding[] {
  const { reverseConnect, listen, hostname, alternateHostnames } = section;
  const names = [hostname, ...alternateHostnames];
  const isLocal = isLoopback(listen.host);
  const hearsLoopback = isLocal || everywhere.has(listen.host);
  return reverseConnect.flatMap((address, index) => {
    const { hostname: host, port } = new URL(address);
    const isOwn =
      bareHost(host) === listen.host ||
      (hearsLoopback && isLoopback(host)) ||
      (!isLocal && names.includes(bareHost(host)));
    return isOwn && Number(port) === listen.port
      ? [wrong(["opcua", "reverseConnect", index], "is the gateway's own address: write that of the client")]
      : [];
  });
}

/** Addresses that mean all of this machine. */
const everywhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** A client elsewhere would be let in without a user. */
function openReverseFindings({ reverseConnect }: OpcUaSection): readonly Finding[] {
  return reverseConnect.flatMap((address, index) =>
    isLoopback(new URL(address).hostname)
      ? []
      : [
          wrong(
            ["opcua", "reverseConnect", index],
            "leads to another machine, and opcua.insecureLoopback lets everybody in: take one of them away",
          ),
        ],
  );
}

/** The ways in which a user logs on; two users cannot share a certificate. */
function userFindings({ users }: OpcUaSection): readonly Finding[] {
  const owners = new Map<string, string>();
  const findings: Finding[] = [];
  for (const [name, { password, certificate }] of Object.entries(users)) {
    const path = ["opcua", "users", name];
    if (password === undefined && certificate === undefined)
      findings.push(wrong(path, "cannot log on: give it a password, or the thumbprint of a certificate"));
    if (certificate === undefined) continue;
    const thumbprint = thumbprintIn(certificate);
    const owner = owners.get(thumbprint);
    if (owner === undefined) owners.set(thumbprint, name);
    else findings.push(wrong([...path, "certificate"], `is the certificate of ${owner} already`));
  }
  return findings;
}

/**
 * A PLC without strings recognises its own command by the number of its user. It takes that of another user
 * for its own if both have one number, and share a slot.
 */
function userNumberFindings({ users }: OpcUaSection): readonly Finding[] {
  const owners = new Map<number, string>();
  const findings: Finding[] = [];
  for (const [name, { number }] of Object.entries(users)) {
    if (number === undefined) continue;
    const owner = owners.get(number);
    if (owner === undefined) owners.set(number, name);
    else {
      findings.push(
        unwise(
          ["opcua", "users", name, "number"],
          `is the number of ${owner} too: in a slot of both, AcceptedByNo cannot tell whose command it was`,
        ),
      );
    }
  }
  return findings;
}

/** Names that every controller accepts: S7 allows 24 characters, and no `-`. */
const usualAlias = /^[A-Za-z][A-Za-z0-9_]{0,23}$/;

/**
 * An alias replaces an id in node names: two robots with one name would be one node. An S7 does not
 * distinguish names that differ only by case.
 */
function aliasFindings(opcua: OpcUaSection): readonly Finding[] {
  const owners = new Map(Object.keys(opcua.robots).map((robotId) => [robotId, robotId]));
  const ownersInAnyCase = new Map<string, NamedRobot>();
  // Without an alias, a robot is named by its id.
  for (const [robotId, { alias }] of Object.entries(opcua.robots))
    if (alias === undefined) ownersInAnyCase.set(robotId.toLowerCase(), { robotId, name: robotId });
  const findings: Finding[] = [];
  for (const [robotId, { alias }] of Object.entries(opcua.robots)) {
    if (alias === undefined) continue;
    const path = ["opcua", "robots", robotId, "alias"];
    const owner = owners.get(alias);
    const alike = ownersInAnyCase.get(alias.toLowerCase());
    if (alias !== robotId && owner !== undefined)
      findings.push(wrong(path, `is the name of ${owner} already`));
    else if (alike !== undefined) findings.push(wrong(path, differsByCase(alias, alike)));
    if (owner === undefined) owners.set(alias, robotId);
    if (alike === undefined) ownersInAnyCase.set(alias.toLowerCase(), { robotId, name: alias });
    if (!usualAlias.test(alias)) {
      findings.push(
        unwise(
          path,
          `is "${alias}": some PLCs take a name only of a letter, then letters, digits and _, at most 24 in all`,
        ),
      );
    }
  }
  return findings;
}

interface NamedRobot {
  readonly robotId: string;
  readonly name: string;
}

function differsByCase(alias: string, { robotId, name }: NamedRobot): string {
  const other = name === robotId ? `the id "${name}"` : `"${name}" of ${robotId}`;
  return `"${alias}" differs only by case from ${other}: a PLC may take them for one; choose another`;
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
