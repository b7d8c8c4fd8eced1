import type { StreamReadings } from "../../../contracts/metrics.ts";
import { qualities } from "../../../domain/observed.ts";
import {
  figureRow,
  figureRows,
  type Labels,
  type MetricRow,
  type Sample,
  type Scrape,
  streamKinds,
  streamLabels,
  timestampSeconds,
} from "./row.ts";

type Counted = readonly [pick: (readings: StreamReadings) => number, labels?: Labels];

/** A counter of each kind of stream. */
function streamRow(name: string, help: string, ...counted: readonly Counted[]): MetricRow {
  return {
    name,
    help,
    labels: ["stream", ...Object.keys(counted[0]?.[1] ?? {})],
    read({ readings }) {
      const streams = readings.streams();
      return streamKinds.flatMap((kind) =>
        counted.map(([pick, labels]): Sample => [{ ...streamLabels[kind], ...labels }, pick(streams[kind])]),
      );
    },
  };
}

const linkRows: readonly MetricRow[] = [
  {
    name: "fleetgate_fleet_link_up",
    help: "1 while there is a session to the fleet service, otherwise 0.",
    labels: [],
    read: ({ readings }) => [[{}, Number(readings.link().isUp)]],
  },
  {
    name: "fleetgate_fleet_link_changed_timestamp_seconds",
    help: "When the session to the fleet service came up or was lost last; before that, when the gateway began.",
    labels: [],
    read: ({ readings }) => [[{}, timestampSeconds(readings.link().changedAtMs)]],
  },
  {
    name: "fleetgate_fleet_token_expiry_timestamp_seconds",
    help: "When the token of the fleet service ends. Absent while there is none.",
    labels: [],
    read: tokenEnd,
  },
  {
    name: "fleetgate_robots",
    help: "Robots by the quality of what is known of them.",
    labels: ["quality"],
    read({ readings }) {
      const counts = new Map<string, number>(qualities.map((quality) => [quality, 0]));
      for (const { quality } of readings.robots()) counts.set(quality, (counts.get(quality) ?? 0) + 1);
      return Array.from(counts, ([quality, count]): Sample => [{ quality }, count]);
    },
  },
];

function tokenEnd({ nowMs, parts }: Scrape): readonly Sample[] {
  const left = parts.fleet?.figures?.token_seconds_left;
  return left === undefined || left === 0 ? [] : [[{}, timestampSeconds(nowMs) + left]];
}

const streamRows: readonly MetricRow[] = [
  streamRow("fleetgate_fleet_messages_total", "Messages of robots that came by streams or webhooks.", [
    ({ messages }) => messages,
  ]),
  streamRow(
    "fleetgate_fleet_messages_repeated_total",
    "Messages that said the same as the one before: they confirm its value.",
    [({ repeats }) => repeats],
  ),
  streamRow(
    "fleetgate_fleet_messages_missed_total",
    "Sequence numbers that were skipped within a subscription: gaps.",
    [({ missed }) => missed],
  ),
  streamRow(
    "fleetgate_fleet_messages_dropped_total",
    "Messages that were not taken: older than the value held, or unreadable.",
    [({ outdated }) => outdated, { reason: "outdated" }],
    [({ malformed }) => malformed, { reason: "malformed" }],
  ),
  streamRow(
    "fleetgate_fleet_sequence_resets_total",
    "Sequences that began again: a robot or the service was restarted.",
    [({ resets }) => resets],
  ),
  streamRow(
    "fleetgate_fleet_sequence_regressions_total",
    "Lower sequence numbers that were no restart: each made the gateway subscribe again.",
    [({ regressed }) => regressed],
  ),
];

const healthRows: readonly MetricRow[] = [
  ...figureRows("fleet", {
    fleetgate_fleet_streams_open: ["streams_open", "Streams of the fleet service that are open."],
    fleetgate_fleet_streams_expected: ["streams_wanted", "Streams of the fleet service that should be open."],
    fleetgate_fleet_streams_suspended: [
      "streams_suspended",
      "Streams that rest because webhooks bring events.",
    ],
    fleetgate_fleet_streams_cut_total: [
      "streams_cut",
      "Streams that the service, or a proxy before it, ended while they were open.",
    ],
    fleetgate_fleet_connect_failures_total: ["connect_failures", "Failed attempts to connect for streams."],
    fleetgate_fleet_calls_in_flight: [
      "calls_under_way",
      "Calls to the fleet service that wait for an answer.",
    ],
    fleetgate_fleet_token_requests_total: ["token_requests", "Requests for a token."],
    fleetgate_fleet_token_failures_total: ["token_failures", "Requests for a token that failed."],
    fleetgate_fleet_clock_skew_seconds: [
      "clock_skew_seconds",
      "The fleet service's clock minus the clock of this machine.",
    ],
    fleetgate_fleet_polls_total: ["polls", "Polls of the fleet service."],
    fleetgate_fleet_poll_failures_total: ["poll_failures", "Polls of the fleet service that failed."],
    fleetgate_fleet_robots_refused: [
      "robots_refused",
      "Robots and locations that the fleet service refuses.",
    ],
    fleetgate_fleet_identifiers_refused_total: [
      "identifiers_refused",
      "Impossible identifiers of the service.",
    ],
    fleetgate_fleet_robot_clocks_wrong: [
      "robot_clocks_wrong",
      "Robots whose clocks are wrong: the times of their messages are not used.",
    ],
  }),
  figureRow(
    "fleetgate_fleet_connections",
    "HTTP/2 connections to the fleet service, by what they are for.",
    ["fleet", "connections", { purpose: "streams" }],
    ["fleet", "command_connections", { purpose: "commands" }],
  ),
  ...figureRows("state", {
    fleetgate_task_chains: ["task_chains", "Task chains that are known."],
  }),
];

/** The fleet service, its streams and its robots. */
export const fleetRows: readonly MetricRow[] = [...linkRows, ...healthRows, ...streamRows];
