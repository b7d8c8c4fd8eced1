import type { CertificateEnd } from "../config/certificate-files.ts";
import { pathText } from "../config/finding.ts";
import type { ReloadRefusal } from "../contracts/reload.ts";
import { stopRequest } from "../fleet/operations/row.ts";
import type { SharedFolderParts } from "../northbound/opcua/certificate-store/shared-clients.ts";
import { type OpcUaStore, openMemory } from "../northbound/opcua/opcua-store.ts";
import type { OpcUaOptions } from "../northbound/opcua/options.ts";
import type { OpcUaServer } from "../northbound/opcua/server.ts";
import type { Now } from "../platform/live.ts";
import { programDate, version } from "../version.ts";
import type { Core } from "./core.ts";
import { QUEUE, type Run, startRetry } from "./run.ts";

/** The OPC UA server, and how a reload changes it. */
export async function opcua(
  options: OpcUaOptions,
  run: Run,
  { link, state, stages, fanOut, commands, catalogue, trends, hour, certificates }: Core,
): Promise<OpcUaServer> {
  const { config, surroundings, work, sessionId, stores, reloads, cluster } = run;
  // Loaded here: a gateway without OPC UA starts in two thirds of the time, and needs less memory.
  const { createOpcUaServer } = await import("../northbound/opcua/server.ts");
  const { dispatcher, intake } = commands;
  const clock = work.clock("opcua");
  const log = surroundings.log.child({ part: "opcua" });
  const { ticketsFolder, ticketsLoss, tables } = stores;
  const retry = startRetry("opcua", clock, run);
  const shareClients = await sharingOf(cluster, { tables, clock, log });
  const server = createOpcUaServer(options, {
    commands: {
      commander: intake,
      acts: commands.acts,
      records: dispatcher,
      audit: intake,
      rights: dispatcher.rights,
      catalogue,
      stopRequest,
    },
    views: {
      facts: {
        version,
        builtAt: programDate(),
        sessionId,
        startedAtMs: clock.nowMs(),
        configHash: reloads.hash.now,
        fleetLinkUp: () => link.now().isUp,
      },
      stations: { leaseOf: dispatcher.stations.leaseOf, shown: stages.stations.shown },
      cluster: cluster?.view ?? null,
      permits: dispatcher.permits,
      holds: dispatcher.holds,
      past: { batteries: trends, hour },
      alarmFacts: {
        batteryLimits: config.alarms.battery.now,
        certificateEndMs: () => firstEndMs(certificates.found()),
      },
      alarms: { storeProblem: stages.alarmStore.storeProblem, shown: stages.alarms.visibleAlarms },
    },
    timeRequest: (task) => work.time("opcua", task),
    openMemory: () => ({
      ...openMemory(ticketsFolder, tables, log, ticketsLoss, cluster?.tickets ?? null),
      shareClients,
    }),
    retry,
    clock,
    random: surroundings.random,
    log,
  });
  reloads.refuseReload((next) => [
    ...server.refusedStations(next.opcua?.stations ?? []),
    ...server
      .refusedRobots(next.opcua?.robots ?? [], (robotId) => state.robot(robotId) !== undefined)
      .map(({ robotId, key, reason }) => {
        const path = pathText(["opcua", "robots", robotId, ...(key === null ? [] : [key])]);
        return { path, reason };
      }),
    ...refusedUri(options, next.opcua),
  ]);
  fanOut.attachSink(server.name, server, QUEUE);
  return retry.shown(server);
}

/** A certificate that cannot be read has no end. */
function firstEndMs(ends: readonly CertificateEnd[]): number | null {
  const first = Math.min(...ends.map(({ endMs }) => endMs));
  return Number.isFinite(first) ? first : null;
}

/** Its code is loaded only if there is a cluster. */
async function sharingOf(
  cluster: Run["cluster"],
  parts: Omit<SharedFolderParts, "folder" | "clients">,
): Promise<OpcUaStore["shareClients"]> {
  if (cluster === null) return undefined;
  const { shareClients } = await import("../northbound/opcua/certificate-store/shared-clients.ts");
  return (folder, signal) => shareClients({ ...parts, folder, clients: cluster.clients }, signal);
}

/** A reload cannot change the server's name. */
function refusedUri(is: OpcUaOptions, next: Now<OpcUaOptions> | null): readonly ReloadRefusal[] {
  if (next === null || is.applicationUri === next.applicationUri) return [];
  return [{ path: "opcua.certificate", reason: `restart to change it: it is for ${next.applicationUri}` }];
}
