import { figureRow, type MetricRow, type Sample } from "./row.ts";

/** A figure of every northbound's queue: `opcua.events_queued` is one of the component `queues`. */
function queueRow(type: MetricRow["type"], name: string, help: string, figure: string): MetricRow {
  return {
    type,
    name,
    help,
    labels: ["northbound"],
    read: ({ parts }) =>
      Object.entries(parts.queues?.figures ?? {}).flatMap(([key, value]): Sample[] =>
        key.endsWith(`.${figure}`) ? [[{ northbound: key.slice(0, -figure.length - 1) }, value]] : [],
      ),
  };
}

const queueRows: readonly MetricRow[] = [
  queueRow(
    "gauge",
    "fleetgate_queue_changes",
    "Changed values that wait for a northbound.",
    "changes_queued",
  ),
  queueRow(
    "counter",
    "fleetgate_queue_changes_skipped_total",
    "Values that a newer one replaced while they waited.",
    "changes_skipped",
  ),
  queueRow("gauge", "fleetgate_queue_events", "Events that wait for a northbound.", "events_queued"),
  queueRow(
    "counter",
    "fleetgate_queue_events_dropped_total",
    "Events that a bound has dropped before a northbound took them.",
    "events_dropped",
  ),
];

const outboxRows: readonly MetricRow[] = [
  figureRow("gauge", "fleetgate_outbox_events", "Events that wait for the broker, on the disk.", [
    "queues",
    "mqtt.events_queued",
  ]),
  figureRow(
    "gauge",
    "fleetgate_outbox_historical_events",
    "Events that an outage or a restart has held up, of those that wait.",
    ["queues", "mqtt.events_historical"],
  ),
  figureRow(
    "gauge",
    "fleetgate_outbox_oldest_event_age_seconds",
    "How long the oldest event has waited for the broker. 0: none waits.",
    ["queues", "mqtt.oldest_event_seconds"],
  ),
  figureRow(
    "gauge",
    "fleetgate_outbox_unstored_events",
    "Events that wait in memory only, because the disk does not take them.",
    ["outbox", "unstored"],
  ),
];

const mqttRows: readonly MetricRow[] = [
  figureRow(
    "gauge",
    "fleetgate_mqtt_connected",
    "1 while the gateway is connected to a broker, otherwise 0.",
    ["mqtt", "connected"],
  ),
  figureRow(
    "gauge",
    "fleetgate_mqtt_broker_index",
    "The broker in use, or last used: 0 is mqtt.broker, 1 the first of mqtt.fallbackBrokers.",
    ["mqtt", "broker_index"],
  ),
  figureRow("counter", "fleetgate_mqtt_connects_total", "Connections to a broker.", ["mqtt", "connects"]),
  figureRow("counter", "fleetgate_mqtt_connect_failures_total", "Failed attempts to connect to a broker.", [
    "mqtt",
    "connect_failures",
  ]),
  figureRow("counter", "fleetgate_mqtt_connections_lost_total", "Connections to a broker that broke.", [
    "mqtt",
    "connections_lost",
  ]),
  figureRow(
    "counter",
    "fleetgate_mqtt_messages_published_total",
    "Messages that the gateway has published.",
    ["mqtt", "state_messages", { kind: "state" }],
    ["mqtt", "event_messages", { kind: "event" }],
    ["mqtt", "replies", { kind: "reply" }],
  ),
  figureRow("counter", "fleetgate_mqtt_replies_dropped_total", "Replies that could not be delivered.", [
    "mqtt",
    "replies_dropped",
  ]),
  figureRow("gauge", "fleetgate_mqtt_broker_clients", "Clients of the gateway's own broker.", [
    "mqtt-broker",
    "clients",
  ]),
  figureRow(
    "counter",
    "fleetgate_mqtt_broker_clients_refused_total",
    "Clients that the own broker refused.",
    ["mqtt-broker", "clients_refused"],
  ),
];

const opcuaRows: readonly MetricRow[] = [
  figureRow("gauge", "fleetgate_opcua_sessions", "OPC UA sessions.", ["opcua", "sessions"]),
  figureRow("gauge", "fleetgate_opcua_subscriptions", "OPC UA subscriptions.", ["opcua", "subscriptions"]),
  figureRow("gauge", "fleetgate_opcua_monitored_items", "Monitored items of all OPC UA subscriptions.", [
    "opcua",
    "monitored_items",
  ]),
  figureRow("gauge", "fleetgate_opcua_nodes", "Nodes of the OPC UA server, those of OPC UA itself too.", [
    "opcua",
    "nodes",
  ]),
  figureRow("gauge", "fleetgate_opcua_robots_waiting", "Robots whose nodes are not built yet.", [
    "opcua",
    "robots_waiting",
  ]),
  figureRow(
    "counter",
    "fleetgate_opcua_clients_refused_total",
    "Sessions beyond a bound of the configuration.",
    ["opcua", "clients_refused"],
  ),
  figureRow(
    "counter",
    "fleetgate_opcua_certificates_refused_total",
    "Client certificates that were refused.",
    ["opcua", "certificates_refused"],
  ),
  figureRow("counter", "fleetgate_opcua_connections_closed_total", "Connections that a bound has closed.", [
    "opcua",
    "connections_closed",
  ]),
];

/** Waiting events and values for the plant, and its clients. */
export const northboundRows: readonly MetricRow[] = [
  ...queueRows,
  ...outboxRows,
  ...mqttRows,
  ...opcuaRows,
  figureRow(
    "gauge",
    "fleetgate_web_connections",
    "HTTP connections, by listener.",
    ["web", "connections", { listener: "web" }],
    ["control", "connections", { listener: "control" }],
  ),
];
