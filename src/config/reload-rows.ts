import type { ConfigPath } from "./problem.ts";

/** How a key of the file, and all below it, takes effect. */
export interface ReloadRow {
  /** The keys with dots; `*` is any name. No row is the beginning of another. */
  readonly path: string;
  readonly takes: "reload" | "restart";
}

/** What a reload changes. */
const live = [
  "log.level",
  "rights",
  "alarms.battery",
  "opcua.users.*",
  "mqtt.users.*",
  "stations.*.users",
  "stations.*.clients",
  "stations.*.heartbeatMs",
];

/** What is read at the start only. */
const fixed = [
  ["gateway", "fleet", "quality", "web", "control", "commands"],
  ["listen", "hostname", "alternateHostnames", "certificate", "key", "authorities", "issuers"].map(opcua),
  ["revocationLists", "insecureLoopback", "robots", "destinations", "missionSlots", "limits"].map(opcua),
  ["broker", "fallbackBrokers", "returnMs", "listen", "anonymousLoopback", "certificate", "key"].map(mqtt),
  ["username", "password", "ca", "clientCertificate", "clientKey", "clientId", "protocolVersion"].map(mqtt),
  ["base", "placement", "topics", "stateQos", "refreshMs", "tags", "commands", "outbox"].map(mqtt),
  ["destinations", "permit", "pauseOnLoss", "place", "load"].map((key) => `stations.*.${key}`),
].flat();

/** Every key of the schema is under one row; a test holds it against the schema. */
export const reloadRows: readonly ReloadRow[] = [
  ...live.map((path) => ({ path, takes: "reload" }) as const),
  ...fixed.map((path) => ({ path, takes: "restart" }) as const),
];

/** The row of a path; a key that has none needs a restart. */
export function rowOf(rows: readonly ReloadRow[], path: ConfigPath): ReloadRow {
  return rows.find((row) => isUnder(row, path)) ?? { path: "", takes: "restart" };
}

export function isUnder({ path: row }: ReloadRow, path: ConfigPath): boolean {
  const parts = row.split(".");
  return parts.length <= path.length && parts.every((part, place) => part === "*" || part === path[place]);
}

function opcua(key: string): string {
  return `opcua.${key}`;
}

function mqtt(key: string): string {
  return `mqtt.${key}`;
}
