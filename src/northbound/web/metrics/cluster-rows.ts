import type { ClusterView } from "../../../contracts/cluster.ts";
import type { MetricRow } from "./row.ts";

/** The place of the gateway in its cluster. */
export function clusterRows({ isActive, epoch, lagMs }: ClusterView): readonly MetricRow[] {
  return [
    {
      type: "gauge",
      name: "fleetgate_cluster_active",
      help: "1 while this gateway leads its cluster, 0 while it does not.",
      labels: [],
      read: () => [[{}, Number(isActive())]],
    },
    {
      type: "gauge",
      name: "fleetgate_cluster_epoch",
      help: "Higher with each leader of the cluster; 0 while none is known.",
      labels: [],
      read: () => [[{}, epoch()]],
    },
    {
      type: "gauge",
      name: "fleetgate_cluster_lag_seconds",
      help: "For how long it has not been known that this gateway has what the store of its cluster has.",
      labels: [],
      read: () => [[{}, lagMs() / 1_000]],
    },
  ];
}
