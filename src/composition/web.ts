import type { RunningConfig } from "../config/load.ts";
import type { ClientCertificates } from "../contracts/client-certificates.ts";
import { stopRequest } from "../fleet/stop-request.ts";
import { isOpenAccess } from "../northbound/web/access/access.ts";
import { createControlServer } from "../northbound/web/control-server.ts";
import { createFleetApi, type FleetApi, type ProtocolViews } from "../northbound/web/fleet-api.ts";
import { createWebServer } from "../northbound/web/server.ts";
import type { StatusFacts } from "../northbound/web/status-report.ts";
import type { Component } from "../platform/component.ts";
import { freeBytes } from "../platform/disk-health.ts";
import { consoleFolder, openApiFile, version } from "../version.ts";
import type { Core } from "./core.ts";
import { QUEUE, type Run } from "./run.ts";

/** The web listener, and how a reload changes it. */
export function web(
  options: NonNullable<RunningConfig["web"]>,
  { config, surroundings, readiness }: Run,
  { stages, commands, catalogue, health, metrics }: Core,
  api: FleetApi,
  clientCertificates: ClientCertificates | null,
): Component {
  const { clock, log, simulatedFaults: faults } = surroundings;
  const { dispatcher, intake, acts } = commands;
  return createWebServer(options, {
    gatewayId: config.gateway.id,
    consoleFolder: consoleFolder(),
    api,
    catalogue,
    commander: commands.intakeOf("web"),
    audit: intake,
    records: dispatcher,
    rights: dispatcher.rights,
    acts,
    standingAlarms: stages.alarmRegistry.all,
    clientCertificates,
    ...(faults === undefined ? {} : { simulator: { faults, audit: intake } }),
    health: health.now,
    hang: health.hang,
    readiness,
    metrics,
    clock,
    log: log.child({ part: "web" }),
  });
}

/** The control socket. */
export function control(
  options: NonNullable<RunningConfig["control"]>,
  run: Run,
  core: Core,
  api: FleetApi,
): Component {
  const { surroundings, work, sessionId, recordings, readiness, reloads } = run;
  const { stages, fanOut, commands, catalogue, health, metrics } = core;
  const { clock, log, logLevels } = surroundings;
  const { dispatcher, acts } = commands;
  return createControlServer(options, {
    api,
    catalogue,
    reload: reloads.request,
    commander: commands.intakeOf("control"),
    records: dispatcher,
    rights: dispatcher.rights,
    holds: dispatcher.holds,
    acts,
    standingAlarms: stages.alarmRegistry.all,
    statusFacts: () => work.time("status", () => statusFacts(run, core)),
    logLevels: logLevels ?? null,
    recorder: recordings.recorder,
    attachTail: (sink) => fanOut.attachSink("tail", sink, QUEUE),
    sessionId,
    health: health.now,
    hang: health.hang,
    readiness,
    metrics,
    clock,
    log: log.child({ part: "control" }),
  });
}

function statusFacts(
  { config, sessionId }: Run,
  { state, stages: { alarmRegistry }, commands, certificates, health }: Core,
): StatusFacts {
  const { id: gatewayId, dataDir } = config.gateway;
  return {
    gatewayId,
    version,
    sessionId,
    health: health.now(),
    stateSinceMs: health.sinceMs,
    robots: state.robots(),
    isOutOfService: alarmRegistry.isOutOfService,
    holds: commands.dispatcher.holds.all(),
    alarms: alarmRegistry.all(),
    certificates: certificates.found(),
    disk: diskOf(dataDir),
  };
}

function diskOf(path: string): StatusFacts["disk"] {
  return { path, freeBytes: freeBytes(path) };
}

/** The dependencies that the web listener and the control socket share. */
export function fleetApi(
  { config, surroundings, work, sessionId, reloads }: Run,
  { link, state, fanOut, commands, catalogue, trends, certificates, health }: Core,
  views: ProtocolViews,
): FleetApi {
  const { dispatcher, commandLog } = commands;
  const clock = work.clock("api");
  let configuration = 0;
  reloads.hash.onChange(() => {
    configuration += 1;
  });
  return createFleetApi({
    identity: { gatewayId: config.gateway.id, version, sessionId, startedAtMs: clock.nowMs() },
    settings: {
      configuration: () => configuration,
      isOpen: () => config.web !== null && isOpenAccess(config.web.access.now()),
      hasSimulator: surroundings.simulatedFaults !== undefined,
      pollMs: config.fleet.times.rosterPollMs,
      floorOptions: () => config.web?.floor.now() ?? { pointTypes: [], drawings: [] },
      openApiFile: openApiFile(),
    },
    condition: {
      health: health.now,
      stateSinceMs: health.sinceMs,
      certificates: certificates.found,
      disk: () => diskOf(config.gateway.dataDir),
      isFleetLinkUp: () => link.now().isUp,
      areValuesKept: health.areValuesKept,
    },
    fleet: {
      places: state,
      stations: dispatcher.stations,
      permits: dispatcher.permits,
      trends,
      commandLog,
      attach: (sink) => fanOut.attachSink("api", sink, QUEUE),
    },
    views,
    catalogue,
    stopRequest,
    clock,
  });
}
