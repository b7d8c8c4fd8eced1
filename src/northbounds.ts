import { join } from "node:path";
import type { Dispatcher } from "./commands/dispatcher.ts";
import type { Intake } from "./commands/intake/intake.ts";
import type { Config } from "./config/load.ts";
import type { OwnCertificates } from "./config/own-certificates.ts";
import type { OperationManual } from "./contracts/operation-manual.ts";
import type { ReloadConfiguration } from "./contracts/reload.ts";
import type { FanOut } from "./delivery/fan-out.ts";
import type { QueueLimits } from "./delivery/feed.ts";
import { createLinkRunner } from "./delivery/link-runner.ts";
import type { Outbox } from "./delivery/outbox/outbox.ts";
import { ofGateway } from "./domain/alarm.ts";
import { stopRequest } from "./fleet/stop-request.ts";
import { createBroker } from "./northbound/mqtt/broker/broker.ts";
import { createMqttLink } from "./northbound/mqtt/link.ts";
import type { MqttOptions } from "./northbound/mqtt/options.ts";
import { eventPayload } from "./northbound/mqtt/payloads.ts";
import { openTopicsFile } from "./northbound/mqtt/published-topics.ts";
import { createTopics } from "./northbound/mqtt/topics.ts";
import { openMemory } from "./northbound/opcua/memory.ts";
import type { OpcUaOptions } from "./northbound/opcua/options.ts";
import { createControlServer } from "./northbound/web/control-server.ts";
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
import type { ConfigurationSource, Consequence } from "./reload.ts";
import type { FleetState } from "./state/fleet-state.ts";
import type { ShownState } from "./state/shown-state.ts";
import type { Stores } from "./stores.ts";
import { builtAt, version } from "./version.ts";

/** What the gateway cannot make for itself. */
export interface GatewayParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  /** Of the log; left out: they stay as they are. */
  readonly logLevels?: LogLevels;
  /** The health of what runs beside the gateway in its process, by name. */
  readonly ownHealth?: () => Readonly<Record<string, Health>>;
  /** Absent where the configuration is not read again. */
  readonly configuration?: ConfigurationSource;
}

/** Everything that the northbounds share. */
export interface NorthboundParts extends GatewayParts {
  /** What a reload can change is read through it at each use. */
  readonly config: Config;
  /** Of the configuration that holds now. */
  readonly configHash: () => string;
  /** Calls this when a reload has changed the configuration. */
  readonly onReload: (follow: Consequence) => void;
  readonly reload: ReloadConfiguration;
  /** Names this run, so that what an earlier one left behind is known as such. */
  readonly sessionId: string;
  readonly catalogue: OperationManual;
  readonly state: FleetState;
  readonly fanOut: FanOut;
  /** Where events wait for the broker; null without MQTT. */
  readonly outbox: Outbox | null;
  readonly dispatcher: Dispatcher;
  readonly intake: Intake;
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
  return [
    ...(config.opcua === null ? [] : [await opcua(config.opcua, parts)]),
    ...(config.mqtt === null ? [] : mqtt(config.mqtt, parts)),
    ...(config.web === null ? [] : [web(config.web, parts)]),
    ...(config.control === null ? [] : [control(config.control, parts)]),
  ];
}

async function opcua(options: OpcUaOptions, parts: NorthboundParts): Promise<Component> {
  // Loaded here: a gateway without OPC UA starts in two thirds of the time, and needs less memory.
  const { createOpcUaServer } = await import("./northbound/opcua/server.ts");
  const { clock, chance, sessionId, catalogue, dispatcher, intake, fanOut } = parts;
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
    alarms: dispatcher.alarms,
    resetCounters: (station) => fanOut.offer(parts.shown.resetCounters(station)),
    catalogue,
    openMemory: () => openMemory({ ticketsFolder, robotsFile }, log, ticketsLoss),
    run: sessionId,
    clock,
    chance,
    log,
  });
  parts.onReload((before) => server.usersChanged(before.opcua?.users ?? []));
  fanOut.attachSink(server.name, server, QUEUE);
  return server;
}

function mqtt(options: MqttOptions, parts: NorthboundParts): Component[] {
  const { clock, chance, sessionId, dispatcher, intake, fanOut, outbox, health, config, shown } = parts;
  const log = parts.log.child({ part: "mqtt" });
  const topics = createTopics(options.base, options.topics, options.placement);
  const { clientId } = options;
  const broker =
    options.broker.kind === "embedded"
      ? createBroker({ options: options.broker, topics, clientId, clock, log })
      : null;
  parts.onReload((before) => {
    const was = before.mqtt?.broker;
    if (was?.kind === "embedded") broker?.usersChanged(was.users);
  });
  const link = createMqttLink({
    options,
    sessionId,
    clock,
    log,
    commander: intake,
    audit: intake,
    stations: dispatcher.stations,
    holds: dispatcher.holds,
    alarms: dispatcher.alarms,
    health,
    openBroker: broker?.open ?? null,
    topicsFiles:
      broker === null ? (name) => openTopicsFile(join(config.gateway.dataDir, "mqtt", name)) : null,
    arrivals: broker?.arrivals ?? null,
    onDuplicate: (holds, text) => shown.alarmBook.state(ofGateway, "DUPLICATE_GATEWAY", { holds, text }),
  });
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

function control(options: NonNullable<Config["control"]>, parts: NorthboundParts): Component {
  const { dispatcher, intake, fanOut, sessionId, health, hang, readiness, metrics, reload, clock, log } =
    parts;
  return createControlServer(options, {
    reload,
    commander: intake,
    audit: intake,
    records: dispatcher,
    stations: dispatcher.stations,
    holds: dispatcher.holds,
    alarms: dispatcher.alarms,
    standingAlarms: parts.shown.alarmBook.all,
    statusFacts: () => statusFacts(parts),
    logLevels: parts.logLevels ?? null,
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

function statusFacts(parts: NorthboundParts): StatusFacts {
  const { config, shown, state, health, certificates, sessionId, stateSinceMs } = parts;
  const { id: gatewayId, dataDir } = config.gateway;
  return {
    gatewayId,
    version,
    sessionId,
    health: health(),
    stateSinceMs,
    robots: state.robots(),
    isOutOfService: shown.alarmBook.isOutOfService,
    alarms: shown.alarmBook.all(),
    certificates: certificates.found(),
    disk: { path: dataDir, freeBytes: freeBytes(dataDir) },
  };
}

function web(options: NonNullable<Config["web"]>, parts: NorthboundParts): Component {
  const { config, state } = parts;
  return createWebServer(options, { ...parts, gatewayId: config.gateway.id, view: state });
}
