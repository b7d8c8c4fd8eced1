import { figureRow, type MetricRow } from "./row.ts";

const part = "commands";

/** Commands under way, what delays them, and their records. */
export const commandRows: readonly MetricRow[] = [
  figureRow("gauge", "fleetgate_commands_in_flight", "Commands that have no outcome yet.", [part, "in_hand"]),
  figureRow("gauge", "fleetgate_commands_queued", "Commands that wait behind another one of their robot.", [
    part,
    "waiting",
  ]),
  figureRow("counter", "fleetgate_commands_rate_limited_total", "Commands beyond the rate of their source.", [
    part,
    "rate_limited",
  ]),
  figureRow("gauge", "fleetgate_leases", "Leases of robots by stations.", [part, "leases"]),
  figureRow("gauge", "fleetgate_holds", "Holds of users.", [part, "holds"]),
  figureRow("gauge", "fleetgate_robots_held", "Robots with a hold of their own.", [part, "robots_held"]),
  figureRow("gauge", "fleetgate_all_robots_held", "1 while a user holds all robots, otherwise 0.", [
    part,
    "all_robots_held",
  ]),
  figureRow("gauge", "fleetgate_permits_missing", "Permits of stations that are not given.", [
    part,
    "permits_missing",
  ]),
  figureRow(
    "counter",
    "fleetgate_foreign_missions_total",
    "Missions that no command of this gateway has made.",
    [part, "foreign_missions"],
  ),
  figureRow("gauge", "fleetgate_journal_entries", "Commands of which the journal has a record.", [
    part,
    "journal_entries",
  ]),
  figureRow(
    "counter",
    "fleetgate_store_records_total",
    "Records that were written to a store.",
    [part, "journal_records", { store: "journal" }],
    ["outbox", "store_records", { store: "outbox" }],
  ),
  figureRow(
    "counter",
    "fleetgate_store_syncs_total",
    "Times that a store was synced to the disk.",
    [part, "journal_syncs", { store: "journal" }],
    ["outbox", "store_syncs", { store: "outbox" }],
  ),
  figureRow(
    "counter",
    "fleetgate_store_failures_total",
    "Writes to a store that the disk refused.",
    [part, "journal_failures", { store: "journal" }],
    ["outbox", "store_failures", { store: "outbox" }],
  ),
  figureRow("counter", "fleetgate_audit_lines_total", "Lines of the audit log.", ["audit", "lines"]),
  figureRow("counter", "fleetgate_audit_lines_lost_total", "Lines of the audit log that the disk refused.", [
    "audit",
    "lines_lost",
  ]),
  figureRow(
    "counter",
    "fleetgate_journald_lines_total",
    "Lines of the audit log that were sent to journald.",
    ["journald", "sent"],
  ),
  figureRow(
    "counter",
    "fleetgate_journald_lines_lost_total",
    "Lines of the audit log that were not sent to journald, because too many waited.",
    ["journald", "lost"],
  ),
];
