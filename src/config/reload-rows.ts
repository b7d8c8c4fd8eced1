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
  "opcua.destinations",
  "opcua.certificate",
  "opcua.key",
  "opcua.authorities",
  "opcua.issuers",
  "opcua.revocationLists",
  "mqtt.users.*",
  "mqtt.certificate",
  "mqtt.key",
  "mqtt.ca",
  "mqtt.clientCertificate",
  "mqtt.clientKey",
  "mqtt.placement",
  "web.tls",
  "web.users.*",
  "web.tokens.*",
  "web.commands",
  "web.floor",
  "stations.*.users",
  "stations.*.clients",
  "stations.*.heartbeatMs",
  "stations.*.maxRunMs",
  "stations.*.conveyors",
  "stations.*.destinations",
  "stations.*.load",
  "stations.*.place",
];

/** Where an entry that is new, or gone, takes effect otherwise than its keys. */
export interface EntryRow {
  /** The record of the entries, with dots. */
  readonly path: string;
  readonly added: ReloadRow["takes"];
  readonly gone: ReloadRow["takes"];
}

export const entryRows: readonly EntryRow[] = [
  { path: "stations", added: "reload", gone: "reload" },
  // Clients have the tags of a robot by its name: what is listed keeps it.
  { path: "opcua.robots", added: "reload", gone: "restart" },
];

/** What is read at the start only. */
const fixed = [
  [
    "gateway",
    "fleet",
    "quality",
    "web.listen",
    "web.hostnames",
    "control",
    "commands",
    "conveyors",
    "recorder",
  ],
  ["listen", "hostname", "alternateHostnames", "insecureLoopback"].map(opcua),
  ["robots.*", "missionSlots", "limits"].map(opcua),
  ["broker", "fallbackBrokers", "returnMs", "listen", "anonymousLoopback"].map(mqtt),
  ["username", "password", "clientId", "protocolVersion"].map(mqtt),
  ["base", "stateQos", "refreshMs", "tags", "commands", "outbox"].map(mqtt),
  ["permit", "pauseOnLoss"].map((key) => `stations.*.${key}`),
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
