import type { Config } from "../config/load.ts";
import type { OwnCertificates } from "../config/own-certificates.ts";
import type { Readings } from "../contracts/metrics.ts";
import type { FleetSession } from "../fleet/fleet-session.ts";
import { freeBytes } from "../platform/disk-space.ts";
import type { FleetState } from "../state/fleet-state.ts";
import type { PlantView } from "../state/plant-view.ts";

export interface ReadingsParts {
  readonly config: Pick<Config, "gateway">;
  readonly state: Pick<FleetState, "robots">;
  readonly view: Pick<PlantView, "alarmRegistry">;
  readonly fleet: Pick<FleetSession, "streamCounts">;
  readonly certificates: Pick<OwnCertificates, "found">;
  readonly fleetLink: Readings["link"];
}

/** The readings of all modules for the metrics. */
export function createReadings(parts: ReadingsParts): Readings {
  const { config, state, view, fleet, certificates, fleetLink } = parts;
  return {
    robots: state.robots,
    streams: fleet.streamCounts,
    link: fleetLink,
    alarms: view.alarmRegistry.all,
    certificateEnds: certificates.found,
    diskFreeBytes: () => freeBytes(config.gateway.dataDir),
  };
}
