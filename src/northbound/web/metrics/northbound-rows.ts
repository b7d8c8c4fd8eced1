import { figureRow, figureRows, type MetricRow, type Sample } from "./row.ts";

/** A figure of every northbound's queue: `opcua.events_queued` is one of the component `queues`. */
function queueRow(name: string, help: string, figure: string): MetricRow {
  return {
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
  queueRow("fleetgate_queue_changes", "Changed values that wait for a northbound.", "changes_queued"),
  queueRow(
    "fleetgate_queue_changes_skipped_total",
    "Values that a newer one replaced while they waited.",
    "changes_skipped",
  ),
  queueRow("fleetgate_queue_events", "Events that wait for a northbound.", "events_queued"),
  queueRow(
    "fleetgate_queue_events_dropped_total",
    "Events that a bound has dropped before a northbound took them.",
    "events_dropped",
  ),
];

const outboxRows: readonly MetricRow[] = [
  ...figureRows("queues", {
    fleetgate_outbox_events: ["mqtt.events_queued", "Events that wait for the broker, on the disk."],
    fleetgate_outbox_historical_events: [
      "mqtt.events_historical",
      "Events that an outage or a restart has held up, of those that wait.",
    ],
    fleetgate_outbox_oldest_event_age_seconds: [
      "mqtt.oldest_event_seconds",
      "How long the oldest event has waited for the broker. 0: none waits.",
    ],
  }),
  ...figureRows("outbox", {
    fleetgate_outbox_unstored_events: [
      "unstored",
      "Events that wait in memory only, because the disk does not take them.",
    ],
  }),
];

const mqttRows: readonly MetricRow[] = [
  ...figureRows("mqtt", {
    fleetgate_mqtt_connected: ["connected", "1 while the gateway is connected to a broker, otherwise 0."],
    fleetgate_mqtt_broker_index: [
      "broker_index",
      "The broker in use, or last used: 0 is mqtt.broker, 1 the first of mqtt.fallbackBrokers.",
    ],
    fleetgate_mqtt_connects_total: ["connects", "Connections to a broker."],
    fleetgate_mqtt_connect_failures_total: ["connect_failures", "Failed attempts to connect to a broker."],
    fleetgate_mqtt_connections_lost_total: ["connections_lost", "Connections to a broker that broke."],
    fleetgate_mqtt_replies_dropped_total: ["replies_dropped", "Replies that could not be delivered."],
  }),
  figureRow(
    "fleetgate_mqtt_messages_published_total",
    "Messages that the gateway has published.",
    ["mqtt", "state_messages", { kind: "state" }],
    ["mqtt", "event_messages", { kind: "event" }],
    ["mqtt", "replies", { kind: "reply" }],
  ),
  ...figureRows("mqtt-broker", {
    fleetgate_mqtt_broker_clients: ["clients", "Clients of the gateway's own broker."],
    fleetgate_mqtt_broker_clients_refused_total: ["clients_refused", "Clients that the own broker refused."],
  }),
];

const sparkplugRows = figureRows("sparkplug", {
  fleetgate_sparkplug_answers_dropped_total: [
    "answers_dropped",
    "Answers that the broker of Sparkplug read too slowly to get.",
  ],
  fleetgate_sparkplug_commands_unreadable_total: [
    "commands_unreadable",
    "Messages of Sparkplug hosts that were ignored as a whole.",
  ],
  fleetgate_sparkplug_historical_dropped_total: [
    "historical_dropped",
    "Values of the past whose devices were not born in time.",
  ],
});

const opcuaRows: readonly MetricRow[] = [
  ...figureRows("opcua", {
    fleetgate_opcua_sessions: ["sessions", "OPC UA sessions."],
    fleetgate_opcua_subscriptions: ["subscriptions", "OPC UA subscriptions."],
    fleetgate_opcua_monitored_items: ["monitored_items", "Monitored items of all OPC UA subscriptions."],
    fleetgate_opcua_nodes: ["nodes", "Nodes of the OPC UA server, those of OPC UA itself too."],
    fleetgate_opcua_robots_waiting: ["robots_waiting", "Robots whose nodes are not built yet."],
    fleetgate_opcua_clients_refused_total: [
      "clients_refused",
      "Sessions beyond a bound of the configuration.",
    ],
    fleetgate_opcua_certificates_refused_total: [
      "certificates_refused",
      "Client certificates that were refused.",
    ],
    fleetgate_opcua_connections_closed_total: ["connections_closed", "Connections that a bound has closed."],
  }),
];

/** Waiting events and values for the plant, and its clients. */
export const northboundRows: readonly MetricRow[] = [
  ...queueRows,
  ...outboxRows,
  ...mqttRows,
  ...sparkplugRows,
  ...opcuaRows,
  figureRow(
    "fleetgate_web_connections",
    "HTTP connections, by listener.",
    ["web", "connections", { listener: "web" }],
    ["control", "connections", { listener: "control" }],
  ),
];
