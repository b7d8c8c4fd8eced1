import type { ClusterView } from "../../../contracts/cluster.ts";
import { type Alarm, alarmPriority, alarmRules, alarmsOfCluster } from "../../../domain/alarm.ts";
import type { Health } from "../../../platform/component.ts";
import { figureRows, type MetricRow, type Sample, timestampSeconds } from "./row.ts";

const states: readonly Health["state"][] = ["starting", "up", "degraded", "down"];

/** The alarms of all conveyors count as one code: an index comes from outside. */
function labelOf(code: string): string {
  return Object.hasOwn(alarmRules, code) ? code : "CONVEYOR_ERROR";
}

function alarmRow(
  isMember: boolean,
  name: string,
  help: string,
  counts: (alarm: Alarm) => boolean,
): MetricRow {
  return {
    name,
    help,
    labels: ["code", "priority"],
    read({ readings }) {
      const found = new Map<string, number>();
      for (const alarm of readings.alarms()) {
        const code = labelOf(alarm.code);
        if (counts(alarm)) found.set(code, (found.get(code) ?? 0) + 1);
      }
      return Object.entries(alarmRules)
        .filter(([code]) => isMember || !alarmsOfCluster.has(code))
        .map(([code, { severity }]): Sample => {
          return [{ code, priority: alarmPriority(severity) }, found.get(code) ?? 0];
        });
    },
  };
}

/**
 * The gateway itself, and its limits.
 *
 * @param isMember whether it is a member of a cluster
 */
export function gatewayRows(version: string, isMember: boolean): readonly MetricRow[] {
  return [
    {
      name: "fleetgate_build_info",
      help: "Always 1, with the versions of the gateway and of Node.js.",
      labels: ["version", "node"],
      read: () => [[{ version, node: process.version }, 1]],
    },
    {
      name: "fleetgate_part_state",
      help: "1 for the state in which a part of the gateway is, 0 for each other state.",
      labels: ["part", "state"],
      read: ({ parts }) =>
        Object.entries(parts).flatMap(([part, health]) =>
          states.map((state): Sample => [{ part, state }, Number(health.state === state)]),
        ),
    },
    alarmRow(
      isMember,
      "fleetgate_alarms_active",
      "Alarms whose condition holds.",
      ({ isActive }) => isActive,
    ),
    alarmRow(
      isMember,
      "fleetgate_alarms_unacknowledged",
      "Alarms that nobody has acknowledged.",
      ({ acknowledged }) => acknowledged === null,
    ),
    {
      name: "fleetgate_certificate_expiry_timestamp_seconds",
      help: "When a certificate of the gateway ends, or a CA that it trusts, by the key that names it in the configuration.",
      labels: ["certificate"],
      read: ({ readings }) =>
        readings
          .certificateEnds()
          .flatMap(({ key, endMs }): Sample[] =>
            Number.isFinite(endMs) ? [[{ certificate: key }, timestampSeconds(endMs)]] : [],
          ),
    },
    {
      name: "fleetgate_disk_free_bytes",
      help: "Bytes that the gateway may still write on the disk of gateway.dataDir.",
      labels: [],
      read({ readings }) {
        const bytes = readings.diskFreeBytes();
        return bytes === null ? [] : [[{}, bytes]];
      },
    },
    ...figureRows("recorder", {
      fleetgate_recorder_bytes_total: ["bytes", "Bytes that the flight recorder has written."],
      fleetgate_recorder_entries_dropped_total: ["entries_dropped", "Entries that were not recorded."],
      fleetgate_recorder_saved_total: ["saved", "Recordings that were saved."],
    }),
  ];
}

/** The place of the gateway in its cluster. */
export function clusterRows({ isActive, epoch, lagMs }: ClusterView): readonly MetricRow[] {
  return [
    {
      name: "fleetgate_cluster_active",
      help: "1 while this gateway leads its cluster, 0 while it does not.",
      labels: [],
      read: () => [[{}, Number(isActive())]],
    },
    {
      name: "fleetgate_cluster_epoch",
      help: "Higher with each leader of the cluster; 0 while none is known.",
      labels: [],
      read: () => [[{}, epoch()]],
    },
    {
      name: "fleetgate_cluster_lag_seconds",
      help: "For how long it has not been known that this gateway has what the store of its cluster has.",
      labels: [],
      read: () => [[{}, lagMs() / 1_000]],
    },
  ];
}
