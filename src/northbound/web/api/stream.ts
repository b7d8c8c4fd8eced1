import { z } from "zod";
import { alarmModel } from "../../../models/alarm.ts";
import { milliseconds, robotId, session, time, type ViewOf } from "../../../models/parts.ts";
import { holdModel } from "../../../models/robot.ts";
import { command } from "./command.ts";
import { mapSummary, station } from "./floor.ts";
import { robot, robotChange } from "./robot.ts";

/**
 * The messages of `GET /api/v1/stream`, each under its name as the `event` of a server-sent event.
 *
 * State is never resumed: each connection begins with a snapshot. Events are, by `Last-Event-ID`.
 */

/** All alarms, the most urgent first. */
const listedAlarms = z.strictObject({
  count: z.int().min(0).describe("Of all; at most 200 are listed."),
  alarms: z.array(alarmModel),
});

const configuration = z
  .int()
  .min(0)
  .describe("Another number: another configuration was loaded. Ask for the floor and the rights again.");

/** The first message of a connection. Robots follow in `robots` messages. */
export const snapshot = z.strictObject({
  at: time,
  session_id: session,
  gateway_id: z.string(),
  version: z.string(),
  configuration,
  open: z.boolean().describe("Whether it runs as a demo, without log-in."),
  has_simulator: z.boolean().describe("Whether the fleet service is a simulated one, beside the gateway."),
  poll_ms: milliseconds.nullable().describe("Between two online lists; null: none are asked for."),
  robot_count: z.int().min(0),
  maps: z.array(mapSummary),
  stations: z.array(station),
  alarms: listedAlarms,
  hold: holdModel.describe("What holds all robots."),
});

/** Robots of the snapshot as a whole, and once more those that have changed meanwhile. */
export const robots = z.strictObject({
  robots: z.array(robot),
  more: z.boolean().describe("False: this is the last message of the snapshot."),
});

/**
 * The changes since the last message. A robot has only its changed keys; every other value replaces the one
 * of the same name, number or key as a whole. Ignore a robot that no `robots` message has brought yet: its
 * message is still to come.
 */
export const change = z.strictObject({
  at: time,
  robots: z.array(robotChange).optional(),
  stations: z.array(station).optional(),
  stations_removed: z.array(z.string()).optional(),
  maps: z.array(mapSummary).optional(),
  maps_removed: z.array(z.int()).optional(),
  alarms: listedAlarms.optional(),
  hold: holdModel.optional(),
  commands: z.array(command).optional().describe("Commands that have reached another stage."),
});

/**
 * Sent each second, whatever happens. After three seconds without one, nothing that is shown is known any
 * more.
 */
export const tick = z.strictObject({
  at: time,
  id: z.string().describe("A start names the newest one, in its key tick."),
  configuration,
  fleet_link_up: z.boolean(),
  poll_age_ms: milliseconds.nullable().describe("Since the newest online list; null: there was none."),
});

/** Something that happened once, as MQTT publishes it. */
export const event = z.looseObject({
  kind: z.enum(["mission", "conveyor", "battery", "alarm", "command", "lease", "hold", "dropped"]),
  event_id: z.string(),
  robot_id: robotId.describe("Empty: it concerns no single robot."),
  at: time,
});

/** Events are missing between the event that the client named and the next ones. */
export const gap = z.strictObject({
  at: time,
  missing: z.int().min(1).nullable().describe("How many; null: not known, for another run had them."),
});

/** The last message: why the gateway closes the stream. */
export const closed = z.strictObject({
  at: time,
  code: z.enum(["stopping", "replaced", "logged_out"]),
  reason: z.string(),
  reconnect: z.boolean().describe("Whether it is of use to connect again."),
});

/** The model of each message, by its name. */
export const streamMessages = { snapshot, robots, change, tick, event, gap, closed } as const;

export type Snapshot = ViewOf<typeof snapshot>;
export type SnapshotRobots = ViewOf<typeof robots>;
export type Change = ViewOf<typeof change>;
export type Tick = ViewOf<typeof tick>;
export type StreamEvent = ViewOf<typeof event>;
export type Gap = ViewOf<typeof gap>;
export type Closed = ViewOf<typeof closed>;
export type ListedAlarms = ViewOf<typeof listedAlarms>;
export type StreamMessages = {
  readonly [Name in keyof typeof streamMessages]: ViewOf<(typeof streamMessages)[Name]>;
};
