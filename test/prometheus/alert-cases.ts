/** Series of one alert: when it does not fire yet, and when it does. Values are those of each minute. */
export interface AlertCase {
  readonly alert: string;
  /** Values by series, in promtool's notation. Each series gets job and instance. */
  readonly series: Readonly<Record<string, string>>;
  readonly quietAt: string;
  readonly firesAt: string;
}

function gauge(alert: string, series: string, values: string, quietAt: string, firesAt: string): AlertCase {
  return { alert, series: { [series]: values }, quietAt, firesAt };
}

const slow = (name: string) => ({
  [`${name}_bucket{le="1"}`]: "0+10x30 300x60",
  [`${name}_bucket{le="30"}`]: "0+10x30 300+10x60",
  [`${name}_bucket{le="+Inf"}`]: "0+10x30 300+10x60",
});

/** In promtool's world the first minute is 1970. */
const expiresSoon = (alert: string, series: string, endSeconds: number, quietAt: string, firesAt: string) =>
  gauge(alert, series, `${endSeconds}x100`, quietAt, firesAt);

/** One for each rule of config/prometheus-alerts.yml. */
export const alertCases: readonly AlertCase[] = [
  gauge("FleetgateDown", "up", "1x4 0x10", "6m", "8m"),
  gauge("FleetgateRestarts", "process_start_time_seconds", "0x9 600x9 1200x9 1800x9", "25m", "35m"),
  gauge("FleetgateFleetLinkDown", "fleetgate_fleet_link_up", "1x4 0x10", "6m", "8m"),
  {
    alert: "FleetgateStreamsMissing",
    series: {
      fleetgate_fleet_streams_open: "3x10 2x30",
      fleetgate_fleet_streams_suspended: "2x40",
      fleetgate_fleet_streams_expected: "5x40",
    },
    quietAt: "20m",
    firesAt: "23m",
  },
  expiresSoon(
    "FleetgateTokenNotRenewed",
    "fleetgate_fleet_token_expiry_timestamp_seconds",
    3_600,
    "57m",
    "60m",
  ),
  gauge("FleetgateMqttDisconnected", "fleetgate_mqtt_connected", "1x4 0x10", "6m", "8m"),
  gauge("FleetgateMqttFallbackBroker", "fleetgate_mqtt_broker_index", "0x4 1x30", "13m", "17m"),
  gauge("FleetgatePartDown", 'fleetgate_part_state{part="opcua",state="down"}', "0x4 1x10", "6m", "8m"),
  gauge("FleetgateClockSkew", "fleetgate_fleet_clock_skew_seconds", "0x4 -40x20", "9m", "11m"),
  gauge("FleetgateRobotsNotGood", 'fleetgate_robots{quality="lost"}', "0x4 2x30", "13m", "17m"),
  gauge(
    "FleetgateMessagesMissed",
    'fleetgate_fleet_messages_missed_total{stream="mission"}',
    "0x20 0+5x20",
    "20m",
    "35m",
  ),
  {
    alert: "FleetgateMessagesOld",
    series: slow("fleetgate_message_age_seconds"),
    quietAt: "30m",
    firesAt: "60m",
  },
  gauge(
    "FleetgateOutcomeUnknown",
    'fleetgate_alarms_unacknowledged{code="OUTCOME_UNKNOWN",priority="high"}',
    "0x4 1x9",
    "4m",
    "6m",
  ),
  {
    alert: "FleetgateCommandsRefused",
    series: {
      'fleetgate_commands_total{outcome="succeeded"}': "0+1x60",
      'fleetgate_commands_total{outcome="refused"}': "0x20 0+3x40",
    },
    quietAt: "20m",
    firesAt: "50m",
  },
  {
    alert: "FleetgateCommandsSlow",
    series: slow("fleetgate_command_duration_seconds"),
    quietAt: "30m",
    firesAt: "60m",
  },
  gauge(
    "FleetgateUrgentAlarm",
    'fleetgate_alarms_active{code="DUPLICATE_GATEWAY",priority="urgent"}',
    "0x4 1x9",
    "4m",
    "6m",
  ),
  gauge(
    "FleetgateEventsDropped",
    'fleetgate_queue_events_dropped_total{northbound="mqtt"}',
    "0x20 5x20",
    "20m",
    "22m",
  ),
  gauge("FleetgateOutboxOld", "fleetgate_outbox_oldest_event_age_seconds", "0+60x40", "15m", "18m"),
  gauge("FleetgateStoreFails", 'fleetgate_store_failures_total{store="journal"}', "0x20 1x20", "20m", "22m"),
  gauge("FleetgateAuditLinesLost", "fleetgate_audit_lines_lost_total", "0x20 1x20", "20m", "22m"),
  gauge("FleetgateDiskFillsUp", "fleetgate_disk_free_bytes", "600000000x4 400000000x20", "9m", "11m"),
  expiresSoon(
    "FleetgateCertificateExpires",
    'fleetgate_certificate_expiry_timestamp_seconds{certificate="opcua"}',
    30 * 86_400 + 600,
    "65m",
    "75m",
  ),
  gauge("FleetgateEventLoopSlow", "nodejs_eventloop_lag_p99_seconds", "0.01x4 0.9x30", "13m", "17m"),
];
