import type { RunningConfig } from "../config/load.ts";
import type { ClientCertificates } from "../contracts/client-certificates.ts";
import { stopRequest } from "../fleet/stop-request.ts";
import { isOpenAccess } from "../northbound/web/access/access.ts";
import { createControlServer } from "../northbound/web/control-server.ts";
import { createFleetApi, type FleetApi, type ProtocolViews } from "../northbound/web/fleet-api.ts";
import { createWebServer } from "../northbound/web/server.ts";
import type { StatusFacts } from "../northbound/web/status-report.ts";
import type { Component } from "../platform/component.ts";
import { freeBytes } from "../platform/disk-space.ts";
import { consoleFolder, openApiFile, version } from "../version.ts";
import { alarmsOf, type NorthboundParts, QUEUE, timedIntake } from "./northbound-parts.ts";

/** The web listener, and how a reload changes it. */
export function web(
  options: NonNullable<RunningConfig["web"]>,
  parts: NorthboundParts,
  api: FleetApi,
  clientCertificates: ClientCertificates | null,
): Component {
  const { config, dispatcher, intake, view, simulatedFaults: faults } = parts;
  return createWebServer(options, {
    ...parts,
    gatewayId: config.gateway.id,
    consoleFolder: consoleFolder(),
    api,
    commander: timedIntake(parts, "web"),
    audit: intake,
    records: dispatcher,
    rights: dispatcher.rights,
    stations: dispatcher.stations,
    holds: dispatcher.holds,
    alarms: alarmsOf(parts),
    standingAlarms: view.alarmRegistry.all,
    clientCertificates,
    ...(faults === undefined ? {} : { simulator: { faults, audit: intake } }),
    log: parts.log.child({ part: "web" }),
  });
}

/** The control socket. */
export function control(
  options: NonNullable<RunningConfig["control"]>,
  parts: NorthboundParts,
  api: FleetApi,
): Component {
  const { dispatcher, intake, fanOut, sessionId, health, hang, readiness, metrics, reload, clock, log } =
    parts;
  return createControlServer(options, {
    api,
    catalogue: parts.catalogue,
    reload,
    commander: timedIntake(parts, "control"),
    audit: intake,
    records: dispatcher,
    rights: dispatcher.rights,
    stations: dispatcher.stations,
    holds: dispatcher.holds,
    alarms: alarmsOf(parts),
    standingAlarms: parts.view.alarmRegistry.all,
    statusFacts: () => parts.work.time("status", () => statusFacts(parts)),
    logLevels: parts.logLevels ?? null,
    recorder: parts.recordings.recorder,
    attachTail: (sink) => fanOut.attachSink("tail", sink, QUEUE),
    sessionId,
    health,
    hang,
    readiness,
    metrics,
    clock,
    log: log.child({ part: "control" }),
  });
}

function statusFacts(parts: NorthboundParts): StatusFacts {
  const { config, view, state, health, certificates, sessionId, stateSinceMs, dispatcher } = parts;
  const { id: gatewayId, dataDir } = config.gateway;
  return {
    gatewayId,
    version,
    sessionId,
    health: health(),
    stateSinceMs,
    robots: state.robots(),
    isOutOfService: view.alarmRegistry.isOutOfService,
    holds: dispatcher.holds.all(),
    alarms: view.alarmRegistry.all(),
    certificates: certificates.found(),
    disk: diskOf(dataDir),
  };
}

function diskOf(path: string): StatusFacts["disk"] {
  return { path, freeBytes: freeBytes(path) };
}

/** The dependencies that the web listener and the control socket share. */
export function fleetApi(parts: NorthboundParts, views: ProtocolViews): FleetApi {
  const { config, dispatcher, state, sessionId, fanOut, work } = parts;
  const clock = work.clock("api");
  let configuration = 0;
  parts.configHash.onChange(() => {
    configuration += 1;
  });
  return createFleetApi({
    identity: { gatewayId: config.gateway.id, version, sessionId, startedAtMs: clock.nowMs() },
    settings: {
      configuration: () => configuration,
      isOpen: () => config.web !== null && isOpenAccess(config.web.access.now()),
      hasSimulator: parts.simulatedFaults !== undefined,
      pollMs: config.fleet.times.rosterPollMs,
      floorOptions: () => config.web?.floor.now() ?? { pointTypes: [], drawings: [] },
      openApiFile: openApiFile(),
    },
    condition: {
      health: parts.health,
      stateSinceMs: parts.stateSinceMs,
      certificates: parts.certificates.found,
      disk: () => diskOf(config.gateway.dataDir),
      isFleetLinkUp: parts.isFleetLinkUp,
      areValuesKept: parts.areValuesKept,
    },
    fleet: {
      places: state,
      stations: dispatcher.stations,
      permits: dispatcher.permits,
      trends: parts.trends,
      commandLog: parts.commandLog,
      attach: (sink) => fanOut.attachSink("api", sink, QUEUE),
    },
    views,
    catalogue: parts.catalogue,
    stopRequest,
    clock,
  });
}
