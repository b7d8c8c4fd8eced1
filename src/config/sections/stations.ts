import { z } from "zod";
import type { StationOptions } from "../../commands/options.ts";
import type { Source } from "../../domain/command.ts";
import type { Placement } from "../../northbound/mqtt/topic-templates.ts";
import type { StationNode } from "../../northbound/opcua/options.ts";
import { live, milliseconds, names } from "../fields.ts";
import { type Finding, unwise, wrong } from "../finding.ts";
import { type ProtocolSections, unknownUserFindings } from "./rights.ts";

/** Clockwise and counter-clockwise, in the service's words. */
const turns = ["CW", "CCW"] as const;

/** `stations:` each is a PLC with its own destinations. */
export const stationsSection = z
  .record(
    z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: "use 1 to 64 letters, digits, - and _" }),
    live(
      z.strictObject({
        destinations: live(names("Where it may lease a robot: display names, or codes of points.").min(1)),
        users: live(names("OPC UA users that may lease robots for it.").min(1).optional()),
        clients: live(
          names("MQTT clients that may. Without users and clients: all that may command the robot.")
            .min(1)
            .optional(),
        ),
        heartbeatMs: live(
          milliseconds(
            1_000,
            600_000,
            5_000,
            "After so long without a change of the heartbeat, lease and permit end, and its conveyors stop. With load, 5000 at most.",
          ),
        ),
        maxRunMs: live(
          milliseconds(
            1_000,
            3_600_000,
            60_000,
            "After so long the gateway stops a conveyor that somebody started through the station, or during its lease.",
          ),
        ),
        conveyors: live(
          z
            .record(
              z.string().regex(/^\d{1,3}$/, { error: "use the index of a conveyor, as 1" }),
              z.strictObject({
                maxRunMs: milliseconds(1_000, 3_600_000, 60_000, "The same for the conveyor of this index."),
              }),
            )
            .default({})
            .describe("Conveyors, by index."),
        ),
        permit: z
          .literal("required")
          .optional()
          .describe(
            "required: no start to the destinations leaves unless the station's tag Permit is TRUE, and its Heartbeat changes. No safety function.",
          ),
        pauseOnLoss: z
          .boolean()
          .optional()
          .describe("Whether a lost permit pauses the robots that head for the destinations, once."),
        place: live(
          z
            .string()
            .regex(/^[^/+#{}\p{Cc}]+(?:\/[^/+#{}\p{Cc}]+)*$/u, {
              error: "use levels of a topic, as assembly/line3/cell7, without + # { } and empty ones",
            })
            .max(512)
            .optional()
            .describe("Levels for {place} of mqtt.placement.station, as assembly/line3/cell7."),
        ),
        load: live(
          z
            .enum(turns)
            .optional()
            .describe(
              "How a conveyor turns to take a load from the station. Adds motor commands 4 (load) and 5 (unload).",
            ),
        ),
      }),
      ["added", "gone"],
    ),
  )
  .default({})
  .describe("Stations: each a PLC with its destinations.");

export type StationsSection = z.output<typeof stationsSection>;

/** The stations for the dispatcher. */
export function stationOptions(section: StationsSection): readonly StationOptions[] {
  return Object.entries(section).map(([name, station]) => {
    const { destinations, users, clients, heartbeatMs, maxRunMs, permit, pauseOnLoss = false } = station;
    const limits = Object.entries(station.conveyors);
    return {
      name,
      destinations,
      heartbeatMs,
      maxRunMs,
      maxRunMsOf: new Map(limits.map(([index, limit]) => [Number(index), limit.maxRunMs])),
      users: users === undefined && clients === undefined ? undefined : namedSources(users, clients),
      permit: permit === undefined ? undefined : { pauseOnLoss },
    };
  });
}

/** The stations for topics. */
export function stationPlaces(section: StationsSection): Placement["stations"] {
  return Object.entries(section).map(([name, { place = null }]) => ({ name, place }));
}

/** The stations for the OPC UA server. */
export function stationNodes(section: StationsSection): readonly StationNode[] {
  return Object.entries(section).map(([name, { permit, load = null }]) => ({
    name,
    needsPermit: permit !== undefined,
    load,
  }));
}

/** With one of the lists, users that are in neither list are refused, at every protocol. */
function namedSources(users: readonly string[] = [], clients: readonly string[] = []): readonly Source[] {
  return [
    ...users.map((name) => ({ protocol: "opcua", name }) as const),
    ...clients.map((name) => ({ protocol: "mqtt", name }) as const),
  ];
}

/** A station is a slot on OPC UA for users that log on there, and topics on MQTT for its clients. */
export function stationFindings(section: StationsSection, sections: ProtocolSections): readonly Finding[] {
  const entries = Object.entries(section);
  const permits = [
    ...entries.flatMap(([name, station]) => permitFindings(name, station, sections)),
    ...entries.flatMap(([name, station]) => loadFindings(name, station)),
    ...(sections.opcua === undefined ? [] : alikeFindings(Object.keys(section))),
  ];
  if (entries.length > 0 && sections.opcua === undefined && sections.mqtt === undefined) {
    return [
      ...permits,
      unwise(["stations"], "cannot be asked for: there is neither a section opcua nor mqtt"),
    ];
  }
  if (sections.mqtt === undefined) {
    const placed = entries.filter(([, { place }]) => place !== undefined);
    permits.push(
      ...placed.map(([name]) =>
        unwise(
          ["stations", name, "place"],
          "does nothing: it is a part of topics, and there is no section mqtt",
        ),
      ),
    );
  }
  const users = entries.flatMap(([station, { users = [], clients = [] }]) => [
    ...users.flatMap((name, index) =>
      unknownUserFindings(["stations", station, "users", index], "opcua", name, sections),
    ),
    ...clients.flatMap((name, index) =>
      unknownUserFindings(["stations", station, "clients", index], "mqtt", name, sections),
    ),
  ]);
  return [...permits, ...users];
}

/** As for robots: an S7 does not distinguish names that differ only by case. */
function alikeFindings(stations: readonly string[]): readonly Finding[] {
  return stations.flatMap((name, index) => {
    const alike = stations.slice(0, index).find((other) => other.toLowerCase() === name.toLowerCase());
    const text = `differs only by case from "${alike}": some PLCs take them for one`;
    return alike === undefined ? [] : [unwise(["stations", name], text)];
  });
}

/** A station that turns conveyors must not leave one running for long when its PLC stops. */
const LONGEST_HEARTBEAT_WITH_LOAD_MS = 5_000;

function loadFindings(name: string, { load, heartbeatMs }: StationsSection[string]): readonly Finding[] {
  if (load === undefined || heartbeatMs <= LONGEST_HEARTBEAT_WITH_LOAD_MS) return [];
  const text = `is ${heartbeatMs}: with load, write ${LONGEST_HEARTBEAT_WITH_LOAD_MS} at most, for a conveyor may turn so long without its PLC`;
  return [wrong(["stations", name, "heartbeatMs"], text)];
}

/** A permit is a tag: if nobody can write it, no robot will ever come. */
function permitFindings(
  name: string,
  { permit, pauseOnLoss, users, clients }: StationsSection[string],
  { opcua }: ProtocolSections,
): readonly Finding[] {
  if (permit === undefined) {
    const alone = "does nothing without a permit: add permit: required, or leave it out";
    return pauseOnLoss === true ? [wrong(["stations", name, "pauseOnLoss"], alone)] : [];
  }
  const path = ["stations", name, "permit"];
  if (opcua === undefined) {
    return [wrong(path, "nobody could give it: it is a tag, and there is no section opcua")];
  }
  if (users !== undefined || clients === undefined) return [];
  return [
    wrong(path, "nobody could give it: clients are named, and no users; name the PLC's OPC UA user there"),
  ];
}
