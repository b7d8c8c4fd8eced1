import type { Catalogue } from "../contracts/operation.ts";
import { QUALITY_TICK_MS } from "../domain/detection.ts";
import { type Finding, together, unwise, wrong } from "./finding.ts";
import { nearest } from "./issues.ts";
import type { ConfigFile } from "./schema.ts";
import { alarmsFindings } from "./sections/alarms.ts";
import { clusterFindings } from "./sections/cluster-checks.ts";
import { commandsFindings } from "./sections/commands.ts";
import type { FleetSection } from "./sections/fleet.ts";
import { mqttFindings } from "./sections/mqtt-checks.ts";
import { type OpcUaSection, opcUaAccounts } from "./sections/opcua.ts";
import { opcUaFindings } from "./sections/opcua-checks.ts";
import {
  operationFindings,
  ownRoleFindings,
  type RightsSection,
  rightsUserFindings,
} from "./sections/rights.ts";
import { type StationsSection, stationFindings } from "./sections/stations.ts";
import { type WebSection, webAccounts, webFindings } from "./sections/web.ts";

/** The sections without problems of their own. */
export type SoundSections = Partial<ConfigFile>;

/**
 * Problems that concern several keys: keys that contradict or need each other, or that ask for more than the
 * gateway can do.
 *
 * @param unsound sections that are in the file too, but have problems of their own
 */
export function crossChecks(
  sections: SoundSections,
  catalogue: Catalogue,
  unsound: ReadonlySet<string> = new Set(),
): readonly Finding[] {
  const { fleet, quality, mqtt, opcua, web, cluster, commands, rights, stations, alarms } = sections;
  return [
    ...(fleet === undefined ? [] : fleetFindings(fleet)),
    ...(fleet === undefined || quality === undefined ? [] : pollFindings(fleet, quality)),
    ...(fleet === undefined ? [] : unknownRobots(fleet, opcua)),
    ...(mqtt === undefined ? [] : mqttFindings(mqtt, sections)),
    ...(opcua === undefined ? [] : [...opcUaFindings(opcua), ...numberlessFindings(opcua, sections)]),
    ...(web === undefined ? [] : [...webFindings(web), ...webRobots(web, fleet)]),
    ...(cluster === undefined ? [] : clusterFindings(cluster, sections)),
    ...(commands === undefined ? [] : commandsFindings(commands)),
    ...(rights === undefined
      ? []
      : [
          ...rightsFindings(rights, fleet),
          ...operationFindings(rights, catalogue),
          ...rightsUserFindings(rights, sections),
        ]),
    ...(rights === undefined ? [] : ownRoleFindings(rights, [...opcUaUsers(opcua), ...webAccounts(web)])),
    ...(stations === undefined || unsound.has("opcua") ? [] : stationFindings(stations, sections)),
    ...(alarms === undefined ? [] : alarmsFindings(alarms)),
    ...portFindings(sections),
  ];
}

function fleetFindings(fleet: FleetSection): readonly Finding[] {
  const findings: Finding[] = [
    ...together(fleet, ["fleet"], "clientCertificate", "clientKey"),
    ...(fleet.proxy === undefined ? [] : together(fleet.proxy, ["fleet", "proxy"], "username", "password")),
  ];
  const { robots, locations, times } = fleet;
  if (robots === undefined && locations === undefined) {
    findings.push(wrong(["fleet"], "needs robots or locations: which robots the gateway is for"));
  }
  if (robots !== undefined && locations !== undefined) {
    findings.push(wrong(["fleet", "locations"], "stands beside robots; the gateway is for one or the other"));
  }
  if (times.tokenMarginMs >= times.tokenRefreshMs) {
    findings.push(wrong(["fleet", "times", "tokenMarginMs"], "must be less than tokenRefreshMs"));
  }
  if (times.backoffBaseMs > times.backoffCapMs) {
    findings.push(wrong(["fleet", "times", "backoffBaseMs"], "must not be more than backoffCapMs"));
  }
  return [...findings, ...numberFindings(fleet)];
}

/**
 * A polled value is good for the shorter of two times, counted from the last answer. If the next answer is
 * due later, the value turns stale, and `Present` false, in every period although all is well. An existing
 * file may have times between which chains turn stale: that harms no command, so the gateway starts.
 */
function pollFindings(
  { times }: FleetSection,
  { streamSilenceMs, resyncMs }: ConfigFile["quality"],
): readonly Finding[] {
  const longestMs = Math.min(streamSilenceMs, resyncMs) - QUALITY_TICK_MS;
  const bound = `must be at most ${longestMs}: an answer is good for the smaller of quality.streamSilenceMs (${streamSilenceMs}) and quality.resyncMs (${resyncMs}) only, and the next one needs ${QUALITY_TICK_MS} ms to be there`;
  const { rosterPollMs, taskChainPollMs } = times;
  return [
    ...(rosterPollMs === null || rosterPollMs <= longestMs
      ? []
      : [
          wrong(
            ["fleet", "times", "rosterPollMs"],
            `is ${rosterPollMs} and ${bound}; else robots that are there turn stale, and not Present, between two answers`,
          ),
        ]),
    ...(taskChainPollMs === null || taskChainPollMs <= longestMs
      ? []
      : [
          unwise(
            ["fleet", "times", "taskChainPollMs"],
            `is ${taskChainPollMs} and ${bound}; else chains under way turn stale between two answers`,
          ),
        ]),
  ];
}

function numberFindings(fleet: FleetSection): readonly Finding[] {
  const owners = new Map<number, string>();
  const findings: Finding[] = [];
  for (const [robotId, number] of Object.entries(fleet.robotNumbers)) {
    const owner = owners.get(number);
    if (owner === undefined) owners.set(number, robotId);
    else findings.push(wrong(["fleet", "robotNumbers", robotId], `has the number of ${owner}`));
  }
  return findings;
}

/** Described robots that are not the gateway's: most likely misspelt. */
function unknownRobots(fleet: FleetSection, opcua: OpcUaSection | undefined): readonly Finding[] {
  const unknownRobot = unknownRobotCheck(fleet);
  const described = [
    { path: ["fleet", "robotNumbers"], robots: fleet.robotNumbers },
    { path: ["fleet", "families"], robots: fleet.families },
    { path: ["opcua", "robots"], robots: opcua?.robots ?? {} },
  ];
  return described.flatMap(({ path, robots }) =>
    Object.keys(robots).flatMap((robotId) => unknownRobot(robotId, [...path, robotId])),
  );
}

/** If the gateway's robots are listed, any other robot is a mistake. */
function unknownRobotCheck(fleet: FleetSection | undefined) {
  const known = fleet?.robots ?? null;
  const ids = new Set(known);
  return (robotId: string, path: Finding["path"]): readonly Finding[] => {
    if (known === null || ids.has(robotId)) return [];
    const meant = nearest(robotId, known);
    const advice =
      meant === undefined ? "add it there, or remove it here" : `the nearest there is "${meant}"`;
    return [wrong(path, `is about a robot that fleet.robots does not name; ${advice}`)];
  };
}

function rightsFindings(rights: RightsSection, fleet: FleetSection | undefined): readonly Finding[] {
  const unknownRobot = unknownRobotCheck(fleet);
  return rights.flatMap((rule, index) =>
    (rule.robots ?? []).flatMap((robotId, place) =>
      unknownRobot(robotId, ["rights", index, "robots", place]),
    ),
  );
}

function webRobots(web: WebSection, fleet: FleetSection | undefined): readonly Finding[] {
  const unknownRobot = unknownRobotCheck(fleet);
  return (["users", "tokens"] as const).flatMap((kind) =>
    Object.entries<{ readonly robots?: readonly string[] | undefined }>(web[kind]).flatMap(
      ([name, account]) =>
        (account.robots ?? []).flatMap((robotId, index) =>
          unknownRobot(robotId, ["web", kind, name, "robots", index]),
        ),
    ),
  );
}

/** The users with a name: anonymous sessions have the role of a demo. */
function opcUaUsers(opcua: OpcUaSection | undefined): ReturnType<typeof opcUaAccounts> {
  return opcua === undefined ? [] : opcUaAccounts({ ...opcua, insecureLoopback: undefined });
}

/**
 * Two servers of the gateway cannot share a port; the second would fail with a message that blames another
 * program.
 */
function portFindings({ fleet, mqtt, opcua, web }: SoundSections): readonly Finding[] {
  const listeners = [
    { name: "fleet.events", port: fleet?.events.listen?.port ?? 0 },
    { name: "mqtt", port: mqtt?.broker === "embedded" ? (mqtt.listen?.port ?? 1883) : 0 },
    { name: "opcua", port: opcua?.listen.port ?? 0 },
    { name: "web", port: web?.listen.port ?? 0 },
  ].filter((listener) => listener.port !== 0);
  return listeners.flatMap(({ name, port }, index) => {
    const other = listeners.slice(0, index).find((earlier) => earlier.port === port);
    return other === undefined
      ? []
      : [wrong([...name.split("."), "listen", "port"], `is the port of ${other.name} too`)];
  });
}

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
function numberlessFindings(
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
