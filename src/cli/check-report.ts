import { type Grant, grantsOf } from "../commands/rights.ts";
import type { Config } from "../config/load.ts";
import type { ParsedRequest } from "../contracts/operation.ts";
import type { DescribedOperation, OperationManual } from "../contracts/operation-manual.ts";
import { type Role, roles, type Source } from "../domain/command.ts";
import { type DeliveryLimits, type DetectionLimits, detectionLimits } from "../domain/detection.ts";
import { sparkplugSender } from "../northbound/mqtt/sparkplug/options.ts";
import { listenerLines, sparkplugLines } from "./check-protocols.ts";
import { effectsOf, factsOf, unknownEndings } from "./operation-facts.ts";
import { some, wrapped } from "./readable.ts";

/** The meaning of a valid configuration, for `fleetgate check`. It contains no secret. */
export function checkReport(config: Config, manual: OperationManual): string {
  return [
    ...section("Robots", robotLines(config)),
    ...section("Cluster", clusterLines(config)),
    ...section("Sparkplug", sparkplugLines(config)),
    ...section("The longest until values say that something is lost", lossLines(config)),
    ...section("Listeners", listenerLines(config)),
    ...section("Ways for commands", protocolLines(config)),
    ...section("Who may command what", rightsLines(config, manual)),
    ...section("When it is not known how a call ended", endingLines(config, manual)),
    ...section("Note", noteLines(config)),
  ].join("\n");
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

function robotLines({ fleet, gateway }: Config): readonly string[] {
  const { robots } = fleet;
  const which =
    robots.kind === "ids"
      ? `${robots.ids.length === 1 ? "robot" : `${robots.ids.length} robots:`} ${some(robots.ids)}`
      : `every robot at ${some(robots.locations)}`;
  return [
    which,
    `streams from ${fleet.grpcAddress}, commands over ${fleet.transport === "grpc" ? "gRPC" : "REST"}`,
    ...(fleet.events.kind === "streams"
      ? []
      : [`missions and batteries by webhook, at ${fleet.events.webhook.publicUrl}`]),
    `what must survive a restart: ${gateway.dataDir}`,
  ];
}

function clusterLines({ cluster }: Config): readonly string[] {
  if (cluster === null) return [];
  const { name, member, members, etcd, leaseMs } = cluster;
  const others = members.filter((each) => each.name !== member).map((each) => each.name);
  return [
    `${member} of ${name}, with ${some(others)}`,
    `etcd at ${some(etcd.endpoints)}, ${etcd.tls === null ? "without TLS, on this machine" : "over TLS"}`,
    `a leader that is silent for ${seconds(leaseMs)} is replaced`,
  ];
}

/** docs/troubleshoot.md, How soon a loss shows: the same as formulas. */
function lossLines({ fleet, quality }: Config): readonly string[] {
  const limits = detectionLimits({ ...fleet.times, ...quality }, fleet.events.kind);
  return [
    ...(limits.deliveries === null ? streamLines(limits) : deliveryLines(fleet, limits, limits.deliveries)),
    row(seconds(limits.notRenewedMs), "a robot's snapshot is not renewed, while others are: stale"),
    ...rosterLines(limits),
    row(`+ ${seconds(limits.lostAfterMs)}`, "what is stale or offline is lost: no value is shown any more"),
  ];
}

function streamLines({ streamCutMs, silentMs, madeUpMs }: DetectionLimits): readonly string[] {
  return [
    row(
      seconds(streamCutMs),
      "a stream is cut and does not come back: stale; the whole link is down: offline",
    ),
    row(seconds(silentMs), "a connection falls silent: stale; all of them: offline"),
    row(seconds(madeUpMs), "a message is lost, which nothing shows: the next snapshot says what it said"),
  ];
}

function deliveryLines(
  { transport, times }: Config["fleet"],
  { streamCutMs, silentMs, madeUpMs }: DetectionLimits,
  { goneMs, linkGoneMs, standInMs }: DeliveryLimits,
): readonly string[] {
  return [
    row(seconds(goneMs), "the service or the way to it is gone: missions and batteries are stale"),
    row(seconds(linkGoneMs), "the same: everything is offline"),
    row(
      seconds(streamCutMs),
      `conveyors, which come by streams: one is cut (${seconds(silentMs)}: falls silent): stale`,
    ),
    ...(transport === "rest"
      ? [
          row(
            seconds(madeUpMs + times.connectMs),
            "gRPC alone is gone: missions and batteries, which are delivered all the same, are stale",
          ),
        ]
      : []),
    row(seconds(madeUpMs), "a delivery is lost, which nothing shows: the next snapshot says what it said"),
    row(seconds(standInMs), "deliveries do not arrive any more: streams stand in"),
  ];
}

function rosterLines({ roster }: DetectionLimits): readonly string[] {
  if (roster === null)
    return [row("never", "a robot leaves the online list: the list is not asked for (rosterPollMs: null)")];
  const { absentMs, absentSlowestMs, unansweredMs, silentMs } = roster;
  return [
    row(
      seconds(absentMs),
      `a robot leaves the online list: offline (${seconds(absentSlowestMs)} if its answers take as long as they may;`,
    ),
    row("", `+ ${seconds(unansweredMs)} for each answer that does not come, which makes no robot absent)`),
    row(seconds(silentMs), "the online list is not answered: presence and position are stale"),
  ];
}

function protocolLines({ mqtt, sparkplug, opcua, control, rights }: Config): readonly string[] {
  const open = (protocol: string, text: string) =>
    [...rights.rules, ...rights.accounts].some(({ source }) => source.protocol === protocol)
      ? text
      : `${text}; no rule of rights names it, so it may only read`;
  return [
    row("mqtt", mqtt === null ? "off" : (mqttShut(mqtt, sparkplug) ?? open("mqtt", mqttCommands(mqtt)))),
    ...(mqtt === null || sparkplug === null
      ? []
      : [
          row(
            "sparkplug",
            sparkplug.commands
              ? open("mqtt", nodeCommands(sparkplug, mqtt))
              : "off: mqtt.sparkplug.commands is false",
          ),
        ]),
    row("opcua", opcua === null ? "off" : open("opcua", "slots of robots and stations, and methods")),
    row("cli", control === null ? "off" : open("cli", `fleetgate call, through ${control.socketPath}`)),
  ];
}

/** Why MQTT accepts no commands; null: it does. */
function mqttShut(
  { commands, broker }: NonNullable<Config["mqtt"]>,
  sparkplug: Config["sparkplug"],
): string | null {
  if (sparkplug?.json === false) return "off: mqtt.sparkplug.json is false";
  if (!commands.enabled) return "off: mqtt.commands.enabled is false";
  if (broker.kind === "embedded" || commands.brokerEnforcesClientNames) return null;
  return "off: nothing says that the broker enforces client names";
}

function mqttCommands(mqtt: NonNullable<Config["mqtt"]>): string {
  return `under ${mqtt.base}; ${expiry(mqtt)}`;
}

function nodeCommands(
  { groupId, nodeId }: NonNullable<Config["sparkplug"]>,
  mqtt: NonNullable<Config["mqtt"]>,
): string {
  return `Commands/Request of ${groupId}/${nodeId}, no acts; ${expiry(mqtt)}`;
}

function expiry({ commands }: NonNullable<Config["mqtt"]>): string {
  return commands.requireExpiry ? "what moves needs an expiry" : "INSECURE: what moves needs no expiry";
}

function endingLines(config: Config, manual: OperationManual): readonly string[] {
  const { dispatcher } = config;
  const { repeated, sought, never } = unknownEndings(manual);
  const soughtFor =
    dispatcher.evidenceMs === 0
      ? "evidenceMs is 0: no evidence is sought, and the outcome stays unknown:"
      : `evidence is sought for ${seconds(dispatcher.evidenceMs)}; without any the outcome stays unknown:`;
  return [
    "sent again while it may be:",
    ...wrapped(repeated).map((line) => `    ${line}`),
    soughtFor,
    ...wrapped(sought).map((line) => `    ${line}`),
    "the outcome stays unknown: nothing that the service shows could tell:",
    ...wrapped(never).map((line) => `    ${line}`),
    ...unseenLines(config, manual),
  ];
}

/** The outcomes that stay unknown because this mode lacks the stream that would show them. */
function unseenLines({ fleet, quality, dispatcher }: Config, manual: OperationManual): readonly string[] {
  const isDelivered = fleet.events.kind === "webhook";
  const { madeUpMs } = detectionLimits({ ...fleet.times, ...quality }, fleet.events.kind);
  const lines: string[] = [];
  if (isDelivered && dispatcher.evidenceMs > 0 && dispatcher.evidenceMs < madeUpMs)
    lines.push(
      `missions are seen by webhook, their streams rest: where the delivery is lost, the next snapshot comes after up to ${seconds(madeUpMs)},`,
      "  too late to be evidence, and the outcome stays unknown:",
      ...wrapped(shownBy(manual, missionEvidence)).map((line) => `    ${line}`),
    );
  if (fleet.transport === "rest")
    lines.push(
      `commands travel over REST, streams come from ${fleet.grpcAddress}: where gRPC is not served there, the robots are never good,`,
      "  so what moves them is refused, and what only a stream would show stays unknown:",
      ...wrapped(
        shownBy(manual, isDelivered ? conveyorEvidence : [...missionEvidence, ...conveyorEvidence]),
      ).map((line) => `    ${line}`),
    );
  return lines;
}

type EvidenceKind = ParsedRequest["evidence"]["kind"];
const missionEvidence: readonly EvidenceKind[] = ["new_mission", "mission_state"];
const conveyorEvidence: readonly EvidenceKind[] = ["conveyor_state"];

/** The operations with evidence of these kinds; with the kind of request if only some requests have it. */
function shownBy(manual: OperationManual, kinds: readonly EvidenceKind[]): readonly string[] {
  const names = [...manual.values()].flatMap((operation) => {
    const facts = factsOf(operation);
    const shown = facts.filter(({ parsed }) => kinds.includes(parsed.evidence.kind));
    return shown.length === facts.length
      ? [operation.name]
      : shown.map(({ title }) => `${operation.name} (${title})`);
  });
  return [...new Set(names)];
}

function noteLines({ fleet }: Config): readonly string[] {
  const notes: string[] = [];
  if (fleet.times.rosterPollMs === null && fleet.amrIds.size === 0)
    notes.push(
      "no robot numbers are known (rosterPollMs is null, robotNumbers is empty): of the operations that name a robot",
      "  by number only stops and reads pass",
    );
  return notes;
}

function row(first: string, second: string): string {
  return `${first.padEnd(10)} ${second}`;
}

/** In whole seconds or tenths. */
function seconds(durationMs: number): string {
  return `${Math.round(durationMs / 100) / 10} s`;
}

/** Means every name that is not in the configuration. */
const ANY_OTHER = "*";

/** The rights of each user and client of each protocol, by the same rules as for commands. */
function rightsLines(config: Config, manual: OperationManual): readonly string[] {
  return [
    ...sourcesOf(config).flatMap((source) => sourceLines(source, config, manual)),
    "everybody reads, of all robots:",
    ...indented(wrapped(namesOf([...manual.values()].filter(({ role }) => role === "observer")))),
  ];
}

/** The sources in the configuration, and at the end of each protocol all others that it admits. */
function sourcesOf({ opcua, mqtt, web, control, rights }: Config): readonly Source[] {
  const named = (protocol: Source["protocol"]) =>
    rights.rules.flatMap(({ source }) => (source.protocol === protocol ? [source.name] : []));
  const accountsOf = (protocol: Source["protocol"]) =>
    rights.accounts.flatMap(({ source }) => (source.protocol === protocol ? [source.name] : []));
  const clients = mqtt?.broker.kind === "embedded" ? mqtt.broker.users.map(({ name }) => name) : [];
  const isOpen = mqtt !== null && (mqtt.broker.kind === "external" || mqtt.broker.anonymousLoopback);
  const names: ReadonlyArray<readonly [Source["protocol"], readonly string[]]> = [
    ["opcua", opcua === null ? [] : accountsOf("opcua")],
    ["mqtt", mqtt === null ? [] : [...clients, ...named("mqtt"), ...(isOpen ? [ANY_OTHER] : [])]],
    ["web", web === null ? [] : webNames(accountsOf("web"), named("web"))],
    ["cli", control === null ? [] : [...named("cli"), ANY_OTHER]],
  ];
  return names.flatMap(([protocol, all]) => {
    const single = [...new Set(all)].filter((name) => name !== ANY_OTHER);
    return [...single, ...(all.includes(ANY_OTHER) ? [ANY_OTHER] : [])].map((name) => ({
      protocol: protocol,
      name,
    }));
  });
}

/** Without users and tokens, only rules give more than reading. */
function webNames(accounts: readonly string[], ruled: readonly string[]): readonly string[] {
  return accounts.length === 0 ? ruled : accounts;
}

function sourceLines(source: Source, config: Config, manual: OperationManual): readonly string[] {
  const grants = grantsOf(config.rights, source);
  const who = `${source.protocol} ${source.name === ANY_OTHER ? "anybody else" : source.name}`;
  const useful = grants.filter(({ role }) => role !== "observer");
  const [first = "no rule names it"] = grants.map(({ role, roleBy }) => `${role} by ${roleBy}`);
  if (useful.length === 0) return [`${who}: only reads (${first})`];
  return useful.flatMap((grant) => {
    const robots = grant.robots === null ? "all robots" : some(grant.robots);
    return [
      `${who}: ${grant.role} by ${grant.roleBy}, ${robots}`,
      ...indented(wrapped(namesOf(operationsOf(grant, manual)))),
      // Whatever its operations are: docs/security-and-certificates.md, Who may send what.
      ...indented([
        isSparkplug(source, config)
          ? "holds nothing: Sparkplug has no holds"
          : `may hold: ${grant.robots === null ? "all robots, at once too" : robots}`,
      ]),
    ];
  });
}

/** Whether all that this source sends comes over Sparkplug. */
function isSparkplug({ protocol, name }: Source, { sparkplug }: Config): boolean {
  if (protocol !== "mqtt" || sparkplug === null) return false;
  return !sparkplug.json || name === sparkplugSender(sparkplug.groupId);
}

/** The operations that a grant adds to those of every source. */
function operationsOf({ role, operations }: Grant, manual: OperationManual): readonly DescribedOperation[] {
  const isWithin = (needed: Role) => needed !== "observer" && roles.indexOf(needed) <= roles.indexOf(role);
  return [...manual.values()].filter(
    (operation) => isWithin(operation.role) && (operations?.includes(operation.name) ?? true),
  );
}

function namesOf(operations: readonly DescribedOperation[]): readonly string[] {
  return operations.map((operation) => `${operation.name} (${effectsOf(operation).join(", ")})`);
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}
