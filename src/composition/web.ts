import type { AuditSink } from "../commands/audit/audit.ts";
import type { RunningConfig } from "../config/load.ts";
import type { ClientCertificates } from "../contracts/client-certificates.ts";
import type { FenceControl, HandoverControl } from "../contracts/cluster.ts";
import type { CommandRights } from "../contracts/commander.ts";
import { stopRequest } from "../fleet/operations/row.ts";
import { isOpenAccess } from "../northbound/web/access/access.ts";
import type { WebCommands } from "../northbound/web/commands.ts";
import { createControlServer } from "../northbound/web/control-server.ts";
import { createFleetApi, type FleetApi, type ProtocolViews } from "../northbound/web/fleet-api.ts";
import type { Monitoring } from "../northbound/web/monitoring.ts";
import { createWebServer } from "../northbound/web/server.ts";
import type { StatusFacts } from "../northbound/web/status-report.ts";
import { createWebApi } from "../northbound/web/web-api.ts";
import { type Clock, noLaterThan } from "../platform/clock.ts";
import type { Component } from "../platform/component.ts";
import { freeBytes } from "../platform/disk-health.ts";
import type { Log } from "../platform/log.ts";
import { shippedFile } from "../platform/plain-file.ts";
import { consoleFolder, version } from "../version.ts";
import type { Core } from "./core.ts";
import { createHandovers } from "./handover.ts";
import { QUEUE, type Run, startRetry } from "./run.ts";

/** The web listener, and how a reload changes it. */
export function web(
  options: NonNullable<RunningConfig["web"]>,
  run: Run,
  core: Core,
  fleetApi: FleetApi,
  clientCertificates: ClientCertificates | null,
): Component {
  const { clock, log, simulatedFaults: faults } = run.surroundings;
  const { intake: audit } = core.commands;
  const simulator = faults === undefined ? null : { faults, audit };
  const commands = webCommands("web", core);
  const retry = startRetry("web", clock, run);
  const server = createWebServer(options, {
    api: createWebApi({ fleetApi, commands, audit, clientCertificates, simulator, clock }),
    monitoring: monitoring(run, core),
    consoleFolder: consoleFolder(),
    gatewayId: run.config.gateway.id,
    audit,
    retry,
    clock,
    log: log.child({ part: "web" }),
  });
  return retry.shown(server);
}

/** The control socket. */
export function control(
  options: NonNullable<RunningConfig["control"]>,
  run: Run,
  core: Core,
  api: FleetApi,
  clientCertificates: ClientCertificates | null,
): Component {
  const { surroundings, work, recordings, reloads } = run;
  const { clock, log, logLevels } = surroundings;
  const waitingClients = createWaitingClients(clientCertificates, clock);
  return createControlServer(options, {
    api,
    commands: webCommands("control", core),
    monitoring: monitoring(run, core),
    machine: {
      async statusFacts() {
        const waiting = await waitingClients();
        return work.time("status", () => statusFacts(run, core, waiting));
      },
      logLevels: logLevels ?? null,
      recorder: recordings.recorder,
      reload: reloads.request,
      handover: handover(run, core),
      fence: fence(run, core),
    },
    clock,
    log: log.child({ part: "control" }),
  });
}

/** Null: the gateway is no member of a cluster. */
function handover(
  { cluster, surroundings: { clock, log } }: Run,
  { commands }: Core,
): HandoverControl | null {
  if (cluster === null) return null;
  const { view, handover: access } = cluster;
  const { dispatcher, audit } = commands;
  const part = log.child({ part: "cluster" });
  return createHandovers(
    { view, ...access, steps: dispatcher.handover, audit, clock, log: part, signal: cluster.ended },
    access.own,
  );
}

/** Null: the gateway is no member of a cluster. */
function fence({ cluster, surroundings: { clock, log } }: Run, { commands }: Core): FenceControl | null {
  if (cluster === null) return null;
  const { dispatcher, audit } = commands;
  const part = log.child({ part: "cluster" });
  return createFenceControl({
    ...{ confirm: cluster.confirmFence, rights: dispatcher.rights },
    ...{ audit, clock, log: part },
  });
}

function webCommands(protocol: "web" | "control", { commands, catalogue }: Core): WebCommands {
  const { dispatcher, acts, intakeOf } = commands;
  const { rights } = dispatcher;
  return { commander: intakeOf(protocol), records: dispatcher, acts, rights, catalogue };
}

function monitoring({ readiness }: Run, { health, metrics }: Core): Monitoring {
  return { health: health.now, hang: health.hang, readiness, metrics };
}

function statusFacts(
  { config, sessionId, cluster }: Run,
  { state, stages: { alarmRegistry }, commands, certificates, health }: Core,
  waitingClients: StatusFacts["waitingClients"],
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
    waitingClients,
    cluster: cluster?.view ?? null,
  };
}

const LONGEST_LOOK_MS = 500;

/** Asks for the clients of OPC UA that wait for approval. One look at a time: a disk may not answer. */
export function createWaitingClients(
  certificates: Pick<ClientCertificates, "list"> | null,
  clock: Clock,
): () => Promise<StatusFacts["waitingClients"]> {
  let look: Promise<StatusFacts["waitingClients"]> | null = null;
  return async () => {
    if (certificates === null) return [];
    look ??= certificates
      .list()
      .then(
        (all) => all.filter(({ isTrusted }) => !isTrusted),
        () => null,
      )
      .finally(() => {
        look = null;
      });
    return noLaterThan(clock, LONGEST_LOOK_MS, look, null);
  };
}

function diskOf(path: string): StatusFacts["disk"] {
  return { path, freeBytes: freeBytes(path) };
}

/** The dependencies that the web listener and the control socket share. */
export function fleetApi(
  { config, surroundings, work, sessionId, reloads, cluster }: Run,
  { link, state, stages, fanOut, commands, catalogue, trends, certificates, health }: Core,
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
      openApiFile: shippedFile("config/openapi.json"),
    },
    condition: {
      health: health.now,
      stateSinceMs: health.sinceMs,
      certificates: certificates.found,
      disk: () => diskOf(config.gateway.dataDir),
      isFleetLinkUp: () => link.now().isUp,
      areValuesKept: health.areValuesKept,
      cluster: cluster?.view ?? null,
    },
    fleet: {
      places: state,
      stations: dispatcher.stations,
      permits: dispatcher.permits,
      trends,
      commandLog,
      listedAlarms: stages.alarmRegistry.all,
      attach: (sink) => fanOut.attachSink("api", sink, QUEUE),
    },
    views,
    catalogue,
    stopRequest,
    clock,
  });
}

interface FenceParts {
  /** Returns why the member cannot count as fenced; null: it does. */
  readonly confirm: (member: string) => string | null;
  readonly rights: Pick<CommandRights, "refusedOperation">;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly log: Log;
}

export function createFenceControl({ confirm, rights, audit, clock, log }: FenceParts): FenceControl {
  return {
    confirm({ source, member }) {
      const { protocol, name: user } = source;
      const lacking = rights.refusedOperation(source, "the confirmation of a fence", "engineer");
      const reason = lacking ?? confirm(member);
      audit({
        ...{ at: new Date(clock.nowMs()).toISOString(), event: "fence", protocol, user },
        ...{ operation: "confirm", member, outcome: reason === null ? "succeeded" : "refused" },
        ...(reason === null ? {} : { message: reason }),
      });
      if (reason !== null) return { ok: false, reason, lacksRight: lacking !== null };
      log.warn({ member, protocol, user }, "a user has confirmed that the other member is off");
      return { ok: true };
    },
  };
}
