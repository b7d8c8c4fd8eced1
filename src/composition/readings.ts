import type { Config } from "../config/load.ts";
import type { OwnCertificates } from "../config/own-certificates.ts";
import type { Readings } from "../contracts/metrics.ts";
import type { FleetSession } from "../fleet/fleet-session.ts";
import { freeBytes } from "../platform/disk-space.ts";
import type { FleetState } from "../state/fleet-state.ts";
import type { ShownState } from "../state/shown-state.ts";

export interface ReadingsParts {
  readonly config: Pick<Config, "gateway">;
  readonly state: Pick<FleetState, "robots">;
  readonly shown: Pick<ShownState, "alarmBook">;
  readonly fleet: Pick<FleetSession, "streamCounts">;
  readonly certificates: Pick<OwnCertificates, "found">;
  readonly fleetLink: Readings["link"];
}

/** The readings of all modules for the metrics. */
export function createReadings(parts: ReadingsParts): Readings {
  const { config, state, shown, fleet, certificates, fleetLink } = parts;
  return {
    robots: state.robots,
    streams: fleet.streamCounts,
    link: fleetLink,
    alarms: shown.alarmBook.all,
    certificateEnds: certificates.found,
    diskFreeBytes: () => freeBytes(config.gateway.dataDir),
  };
}
