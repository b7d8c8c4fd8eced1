import { join } from "node:path";
import { pathText } from "../config/problem.ts";
import type { ReloadRefusal } from "../contracts/reload.ts";
import { stopRequest } from "../fleet/stop-request.ts";
import { openMemory } from "../northbound/opcua/opcua-store.ts";
import type { OpcUaOptions } from "../northbound/opcua/options.ts";
import type { OpcUaServer } from "../northbound/opcua/server.ts";
import type { Now } from "../platform/live.ts";
import { builtAt, version } from "../version.ts";
import { alarmsOf, type NorthboundParts, QUEUE } from "./northbound-parts.ts";

/** The OPC UA server, and how a reload changes it. */
export async function opcua(options: OpcUaOptions, parts: NorthboundParts): Promise<OpcUaServer> {
  // Loaded here: a gateway without OPC UA starts in two thirds of the time, and needs less memory.
  const { createOpcUaServer } = await import("../northbound/opcua/server.ts");
  const { random, sessionId, catalogue, dispatcher, intake, fanOut, work } = parts;
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
      configHash: parts.configHash.now,
      fleetLinkUp: parts.isFleetLinkUp,
    },
    commander: intake,
    audit: intake,
    records: dispatcher,
    rights: dispatcher.rights,
    stopRequest,
    stations: { ...dispatcher.stations, shown: parts.view.visibleStation },
    permits: dispatcher.permits,
    holds: dispatcher.holds,
    alarms: { ...alarmsOf(parts), shown: parts.view.visibleAlarms },
    resetCounters: (station) => fanOut.offer(parts.view.resetCounters(station)),
    catalogue,
    timeRequest: (task) => work.time("opcua", task),
    openMemory: () => openMemory({ ticketsFolder, robotsFile }, log, ticketsLoss),
    run: sessionId,
    clock,
    random,
    log,
  });
  parts.refuseReload((next) => [
    ...server.refusedStations(next.opcua?.stations ?? []),
    ...server
      .refusedRobots(next.opcua?.robots ?? [], (robotId) => parts.state.robot(robotId) !== undefined)
      .map(({ robotId, key, reason }) => {
        const path = pathText(["opcua", "robots", robotId, ...(key === null ? [] : [key])]);
        return { path, reason };
      }),
    ...refusedUri(options, next.opcua),
  ]);
  fanOut.attachSink(server.name, server, QUEUE);
  return server;
}

/** A reload cannot change the server's name. */
function refusedUri(is: OpcUaOptions, next: Now<OpcUaOptions> | null): readonly ReloadRefusal[] {
  if (next === null || is.applicationUri === next.applicationUri) return [];
  return [{ path: "opcua.certificate", reason: `restart to change it: it is for ${next.applicationUri}` }];
}
