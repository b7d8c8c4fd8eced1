import { z } from "zod";
import type { StationOptions } from "../../commands/options.ts";
import type { Source } from "../../domain/command.ts";
import { milliseconds, names } from "../fields.ts";
import { type Finding, unwise } from "../finding.ts";
import { type ProtocolSections, unknownUserFindings } from "./known-users.ts";

/** `stations:` each a PLC and the destinations that are its own. */
export const stationsSection = z
  .record(
    z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: "use 1 to 64 letters, digits, - and _" }),
    z.strictObject({
      destinations: names(
        "Display names of destinations, or codes of points: where the station may lease a robot.",
      ).min(1),
      users: names("OPC UA users who may lease robots for it.").min(1).optional(),
      clients: names(
        "MQTT clients who may lease robots for it, by the name in their topics. Left out with users: all who may command the robot.",
      )
        .min(1)
        .optional(),
      heartbeatMs: milliseconds(
        1_000,
        600_000,
        10_000,
        "A lease ends, and the conveyors that the station started stop, when neither its Heartbeat changed nor a message came to its topic beat for so long.",
      ),
    }),
  )
  .default({})
  .describe("Stations: each a PLC and the destinations that are its own.");

export type StationsSection = z.output<typeof stationsSection>;

/** What the section says, as the dispatcher wants it. */
export function stationOptions(section: StationsSection): readonly StationOptions[] {
  return Object.entries(section).map(([name, { destinations, users, clients, heartbeatMs }]) => ({
    name,
    destinations,
    heartbeatMs,
    users: users === undefined && clients === undefined ? undefined : namedSources(users, clients),
  }));
}

/** With one of the lists, users that are in neither are refused, at every protocol. */
function namedSources(users: readonly string[] = [], clients: readonly string[] = []): readonly Source[] {
  return [
    ...users.map((name) => ({ protocol: "opcua", name }) as const),
    ...clients.map((name) => ({ protocol: "mqtt", name }) as const),
  ];
}

/** A station is a slot on OPC UA for users that log on there, and topics on MQTT for its clients. */
export function stationFindings(section: StationsSection, sections: ProtocolSections): readonly Finding[] {
  const entries = Object.entries(section);
  if (entries.length > 0 && sections.opcua === undefined && sections.mqtt === undefined) {
    return [unwise(["stations"], "cannot be asked for: there is neither a section opcua nor mqtt")];
  }
  return entries.flatMap(([station, { users = [], clients = [] }]) => [
    ...users.flatMap((name, place) =>
      unknownUserFindings(["stations", station, "users", place], "opcua", name, sections),
    ),
    ...clients.flatMap((name, place) =>
      unknownUserFindings(["stations", station, "clients", place], "mqtt", name, sections),
    ),
  ]);
}
