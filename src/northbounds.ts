import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Dispatcher } from "./commands/dispatcher.ts";
import type { Intake } from "./commands/intake/intake.ts";
import type { Config } from "./config/load.ts";
import type { OwnCertificates } from "./config/own-certificates.ts";
import { pathText } from "./config/problem.ts";
import type { Alarms } from "./contracts/alarms.ts";
import type { CommandLog } from "./contracts/command-log.ts";
import type { OperationManual } from "./contracts/operation-manual.ts";
import type { ReloadConfiguration, ReloadRefusal } from "./contracts/reload.ts";
import type { FanOut } from "./delivery/fan-out.ts";
import type { QueueLimits } from "./delivery/feed.ts";
import { createLinkRunner } from "./delivery/link-runner.ts";
import type { Outbox } from "./delivery/outbox/outbox.ts";
import { ofGateway } from "./domain/alarm.ts";
import { stopRequest } from "./fleet/stop-request.ts";
import { createBroker } from "./northbound/mqtt/broker/broker.ts";
import { createMqttLink } from "./northbound/mqtt/link.ts";
import { createLiveTopics } from "./northbound/mqtt/live-topics.ts";
import type { MqttOptions } from "./northbound/mqtt/options.ts";
import { eventPayload } from "./northbound/mqtt/payloads.ts";
import { openTopicsFile } from "./northbound/mqtt/published-topics.ts";
import { openMemory } from "./northbound/opcua/memory.ts";
import type { OpcUaOptions } from "./northbound/opcua/options.ts";
import { isOpenAccess } from "./northbound/web/access/access.ts";
import { createControlServer } from "./northbound/web/control-server.ts";
import { createFleetApi, type FleetApi } from "./northbound/web/fleet-api.ts";
import type { Metrics } from "./northbound/web/metrics/metrics.ts";
import { createWebServer } from "./northbound/web/server.ts";
import type { StatusFacts } from "./northbound/web/status-report.ts";
import type { Chance } from "./platform/backoff.ts";
import type { Clock } from "./platform/clock.ts";
import type { Component, Health } from "./platform/component.ts";
import { freeBytes } from "./platform/disk-space.ts";
import type { HealthHistory } from "./platform/health-history.ts";
import type { Hang } from "./platform/liveness.ts";
import type { Log, LogLevels } from "./platform/log.ts";
import { mergedHealth } from "./platform/merged-health.ts";
import type { Readiness } from "./platform/readiness.ts";
import type { WorkTimes } from "./platform/work-times.ts";
import type { Recordings } from "./recordings.ts";
import type { ConfigurationSource, Consequence, FindRefusals } from "./reload.ts";
import type { FleetState } from "./state/fleet-state.ts";
import type { ShownState } from "./state/shown-state.ts";
import type { Stores } from "./stores.ts";
import { builtAt, consoleFolder, version } from "./version.ts";

/** What the gateway cannot make for itself. */
export interface GatewayParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  /** Of the log; left out: they stay as they are. */
  readonly logLevels?: LogLevels;
  /** The health of what runs beside the gateway in its process, by name. */
  readonly ownHealth?: () => Readonly<Record<string, Health>>;
  /** Where the work of each part is timed; left out: nobody looks. */
  readonly work?: WorkTimes;
  /** Absent where the configuration is not read again. */
  readonly configuration?: ConfigurationSource;
}

/** Everything that the northbounds share. */
export interface NorthboundParts extends GatewayParts {
  /** What a reload can change is read through it at each use. */
  readonly config: Config;
  readonly work: WorkTimes;
  /** Of the configuration that holds now. */
  readonly configHash: () => string;
  /** Calls this when a reload has changed the configuration. */
  readonly onReload: (follow: Consequence) => void;
  /** Asks this whether a reload may change the configuration. */
  readonly refuseReload: (refusalsOf: FindRefusals) => void;
  readonly reload: ReloadConfiguration;
  /** Names this run, so that what an earlier one left behind is known as such. */
  readonly sessionId: string;
  readonly catalogue: OperationManual;
  readonly state: FleetState;
  readonly fanOut: FanOut;
  /** Where events wait for the broker; null without MQTT. */
  readonly outbox: Outbox | null;
  readonly recordings: Recordings;
  readonly dispatcher: Dispatcher;
  readonly intake: Intake;
  readonly commandLog: CommandLog;
  readonly stores: Stores;
  readonly shown: ShownState;
  readonly isFleetLinkUp: () => boolean;
  readonly health: () => Readonly<Record<string, Health>>;
  /** Wall time since when a part is in its state; null: not known. */
  readonly stateSinceMs: HealthHistory["sinceMs"];
  readonly certificates: OwnCertificates;
  readonly hang: () => Hang | null;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
}

const EVENT_DRAIN_MS = 1_000;
const WRITE_TIMEOUT_MS = 30_000;
/** Beyond two waits of the backoff: how long the gateway's own broker may be out of its reach. */
const OWN_BROKER_MS = 60_000;
/** What may wait for a northbound. */
export const QUEUE: QueueLimits = { changes: 200_000, events: 50_000, perTurn: 500 };

/** The northbounds of a configuration, in the order in which they open. */
export async function createNorthbounds(parts: NorthboundParts): Promise<readonly Component[]> {
  const { config } = parts;
  const api = fleetApi(parts);
  return [
    ...(config.opcua === null ? [] : [await opcua(config.opcua, parts)]),
    ...(config.mqtt === null ? [] : mqtt(config.mqtt, parts)),
    ...(config.web === null ? [] : [web(config.web, parts, api)]),
    ...(config.control === null ? [] : [control(config.control, parts, api)]),
  ];
}

async function opcua(options: OpcUaOptions, parts: NorthboundParts): Promise<Component> {
  // Loaded here: a gateway without OPC UA starts in two thirds of the time, and needs less memory.
  const { createOpcUaServer } = await import("./northbound/opcua/server.ts");
  const { chance, sessionId, catalogue, dispatcher, intake, fanOut, work } = parts;
  const clock = work.clock("opcua");
  const log = parts.log.child({ part: "opcua" });
  const { ticketsFolder, ticketsLoss } = parts.stores;
  const robotsFile = join(options.dataDir, "opcua", "robots.json");
  const server = createOpcUaServer(options, {
    facts: {
      version,
      builtAt: builtAt(),
      sessionId,
      startedAtMs: clock.nowMs(),
      configHash: parts.configHash,
      fleetLinkUp: parts.isFleetLinkUp,
    },
    commander: intake,
    audit: intake,
    records: dispatcher,
    rights: dispatcher.rights,
    stopRequest,
    stations: dispatcher.stations,
    permits: dispatcher.permits,
    holds: dispatcher.holds,
    alarms: alarmsOf(parts),
    resetCounters: (station) => fanOut.offer(parts.shown.resetCounters(station)),
    catalogue,
    timeRequest: (task) => work.time("opcua", task),
    openMemory: () => openMemory({ ticketsFolder, robotsFile }, log, ticketsLoss),
    run: sessionId,
    clock,
    chance,
    log,
  });
  parts.onReload((before) => server.usersChanged(before.opcua?.users ?? []));
  parts.onReload((before, now) => {
    if (!isDeepStrictEqual(before.stations, now.stations)) server.stationsChanged();
  });
  parts.onReload((before, now) => {
    if (!isDeepStrictEqual(before.opcua?.robots, now.opcua?.robots)) server.robotsChanged();
  });
  parts.onReload(server.certificateChanged);
  parts.onReload((before, now) => {
    if (!isDeepStrictEqual(before.opcua?.authorities, now.opcua?.authorities)) server.authoritiesChanged();
  });
  parts.refuseReload((next) => [
    ...server.refusedStations(next.opcua?.stations ?? []),
    ...server
      .refusedRobots(next.opcua?.robots ?? [], (robotId) => parts.state.robot(robotId) !== undefined)
      .map(({ robotId, key, reason }) => {
        const path = pathText(["opcua", "robots", robotId, ...(key === null ? [] : [key])]);
        return { path, reason };
      }),
    ...refusedCertificate(options, next.opcua),
  ]);
  fanOut.attachSink(server.name, server, QUEUE);
  return server;
}

function mqtt(options: MqttOptions, parts: NorthboundParts): Component[] {
  const { chance, sessionId, dispatcher, intake, fanOut, outbox, health, config, shown } = parts;
  const clock = parts.work.clock("mqtt");
  const log = parts.log.child({ part: "mqtt" });
  const live = createLiveTopics(options);
  const { topics } = live;
  const { clientId } = options;
  const broker =
    options.broker.kind === "embedded"
      ? createBroker({ options: options.broker, topics, clientId, clock, log, audit: intake })
      : null;
  parts.onReload((before) => {
    const was = before.mqtt?.broker;
    if (was?.kind !== "embedded" || broker === null) return;
    broker.usersChanged(was.users);
    const { broker: is } = options;
    if (is.kind === "embedded" && !isDeepStrictEqual(was.tls, is.tls)) broker.certificateChanged();
  });
  const link = createMqttLink({
    options,
    topics,
    retained: () => broker?.retained() ?? Promise.resolve([]),
    sessionId,
    clock,
    log,
    commander: timedIntake(parts, "mqtt"),
    audit: intake,
    stations: dispatcher.stations,
    holds: dispatcher.holds,
    alarms: alarmsOf(parts),
    health,
    openBroker: broker?.open ?? null,
    topicsFiles:
      broker === null ? (name) => openTopicsFile(join(config.gateway.dataDir, "mqtt", name)) : null,
    arrivals: broker?.arrivals ?? null,
    onDuplicate: (holds, text) => shown.alarmBook.state(ofGateway, "DUPLICATE_GATEWAY", { holds, text }),
  });
  parts.onReload(() => {
    const move = live.follow();
    if (move.isMoved) broker?.topicsMoved();
    link.topicsMoved(move);
    link.certificatesChanged();
  });
  parts.refuseReload((next) => refusedMqtt(options, next.mqtt));
  const { backoffBaseMs, backoffCapMs } = config.fleet.times;
  const runner = createLinkRunner(link, {
    outlet: fanOut.attachOutlet(link.name, QUEUE, outbox ?? undefined),
    backoff: { baseMs: backoffBaseMs, capMs: backoffCapMs },
    writeTimeoutMs: WRITE_TIMEOUT_MS,
    ...(broker === null ? {} : { hangAfterMs: OWN_BROKER_MS + 2 * backoffCapMs }),
    drainMs: EVENT_DRAIN_MS,
    clock,
    chance,
    log,
  });
  const component = { ...runner, health: () => mergedHealth(runner.health(), link.health()) };
  return broker === null ? [component] : [broker, component];
}

/** The intake, whose work at a command counts as the protocol's. */
function timedIntake({ intake, work }: NorthboundParts, protocol: string): Intake {
  return { ...intake, submit: (...given) => work.time(protocol, () => intake.submit(...given)) };
}

/** The server keeps its name, and goes on to make its own certificate, or not to. */
function refusedCertificate(is: OpcUaOptions, next: OpcUaOptions | null): readonly ReloadRefusal[] {
  if (next === null) return [];
  const path = "opcua.certificate";
  if ((is.certificate === null) !== (next.certificate === null))
    return [{ path, reason: "restart to change it: the gateway makes its own, or not, from its start on" }];
  if (is.applicationUri === next.applicationUri) return [];
  return [{ path, reason: `restart to change it: it is for ${next.applicationUri}` }];
}

/** What of the live keys cannot change all the same. */
function refusedMqtt(is: MqttOptions, next: MqttOptions | null): readonly ReloadRefusal[] {
  if (next === null) return [];
  const reason = "restart to change it";
  const areEmbedded = is.broker.kind === "embedded" && next.broker.kind === "embedded";
  const hasTls = (one: MqttOptions) => one.broker.kind === "embedded" && one.broker.tls !== null;
  return [
    ...(next.topics.status === is.topics.status ? [] : [{ path: "mqtt.topics.status", reason }]),
    ...(areEmbedded && hasTls(is) !== hasTls(next) ? [{ path: "mqtt.certificate", reason }] : []),
  ];
}

function control(options: NonNullable<Config["control"]>, parts: NorthboundParts, api: FleetApi): Component {
  const { dispatcher, intake, fanOut, sessionId, health, hang, readiness, metrics, reload, clock, log } =
    parts;
  return createControlServer(options, {
    api,
    reload,
    commander: timedIntake(parts, "control"),
    audit: intake,
    records: dispatcher,
    stations: dispatcher.stations,
    holds: dispatcher.holds,
    alarms: alarmsOf(parts),
    standingAlarms: parts.shown.alarmBook.all,
    statusFacts: () => parts.work.time("status", () => statusFacts(parts)),
    logLevels: parts.logLevels ?? null,
    recorder: parts.recordings.recorder,
    attachTail: (sink) => fanOut.attachSink("tail", sink, QUEUE),
    eventJson: (event) => eventPayload(event, sessionId),
    health,
    hang,
    readiness,
    metrics,
    clock,
    log: log.child({ part: "control" }),
  });
}

function alarmsOf({ dispatcher, shown }: Pick<NorthboundParts, "dispatcher" | "shown">): Alarms {
  return { ...dispatcher.alarms, storeProblem: shown.alarmStoreProblem };
}

function statusFacts(parts: NorthboundParts): StatusFacts {
  const { config, shown, state, health, certificates, sessionId, stateSinceMs, dispatcher } = parts;
  const { id: gatewayId, dataDir } = config.gateway;
  return {
    gatewayId,
    version,
    sessionId,
    health: health(),
    stateSinceMs,
    robots: state.robots(),
    isOutOfService: shown.alarmBook.isOutOfService,
    holds: dispatcher.holds.all(),
    alarms: shown.alarmBook.all(),
    certificates: certificates.found(),
    disk: { path: dataDir, freeBytes: freeBytes(dataDir) },
  };
}

function web(options: NonNullable<Config["web"]>, parts: NorthboundParts, api: FleetApi): Component {
  const { config, dispatcher, intake, shown } = parts;
  const server = createWebServer(options, {
    ...parts,
    gatewayId: config.gateway.id,
    consoleFolder: consoleFolder(),
    api,
    commander: timedIntake(parts, "web"),
    audit: intake,
    records: dispatcher,
    stations: dispatcher.stations,
    holds: dispatcher.holds,
    alarms: alarmsOf(parts),
    standingAlarms: shown.alarmBook.all,
    log: parts.log.child({ part: "web" }),
  });
  parts.onReload(server.configurationChanged);
  parts.refuseReload(({ web: next }) => {
    if (next === null || (next.tls === null) === (options.tls === null)) return [];
    return [{ path: "web.tls", reason: "restart to change whether the listener speaks TLS" }];
  });
  return server;
}

/** What the web listener and the control socket share. */
function fleetApi(parts: NorthboundParts): FleetApi {
  const { config, dispatcher, state, sessionId, fanOut, work } = parts;
  const clock = work.clock("api");
  return createFleetApi({
    catalogue: parts.catalogue,
    gatewayId: config.gateway.id,
    version,
    sessionId,
    startedAtMs: clock.nowMs(),
    isOpen: () => config.web !== null && isOpenAccess(config.web.access),
    pollMs: config.fleet.times.rosterPollMs,
    health: parts.health,
    stateSinceMs: parts.stateSinceMs,
    isFleetLinkUp: parts.isFleetLinkUp,
    places: state,
    stations: dispatcher.stations,
    permits: dispatcher.permits,
    commandLog: parts.commandLog,
    eventJson: (event) => eventPayload(event, sessionId),
    stopRequest,
    attach: (sink) => fanOut.attachSink("api", sink, QUEUE),
    clock,
  });
}
