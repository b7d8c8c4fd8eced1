import { z } from "zod";
import type { StationOptions } from "../../commands/options.ts";
import type { Source } from "../../domain/command.ts";
import { milliseconds, names } from "../fields.ts";
import { type Finding, unwise, wrong } from "../finding.ts";
import type { MqttSection } from "./mqtt.ts";
import type { OpcUaSection } from "./opcua.ts";

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
export function stationFindings(
  section: StationsSection,
  opcua: OpcUaSection | undefined,
  mqtt: MqttSection | undefined,
): readonly Finding[] {
  const entries = Object.entries(section);
  if (entries.length > 0 && opcua === undefined && mqtt === undefined) {
    return [unwise(["stations"], "cannot be asked for: there is neither a section opcua nor mqtt")];
  }
  return entries.flatMap(([name, { users = [], clients = [] }]) => [
    ...(opcua === undefined ? [] : unknownNames(["stations", name, "users"], users, opcUaNames(opcua))),
    ...(mqtt === undefined ? [] : unknownNames(["stations", name, "clients"], clients, mqttNames(mqtt))),
  ]);
}

/** The names that a protocol knows; null when an external broker knows them. */
interface Known {
  readonly names: readonly string[] | null;
  readonly problem: string;
}

function opcUaNames({ users }: OpcUaSection): Known {
  return { names: [...Object.keys(users), "anonymous"], problem: "is no user of opcua.users" };
}

function mqttNames({ broker, users, anonymousLoopback }: MqttSection): Known {
  const isOpen = broker !== "embedded" || anonymousLoopback;
  return { names: isOpen ? null : Object.keys(users ?? {}), problem: "is no user of mqtt.users" };
}

function unknownNames(
  path: readonly string[],
  given: readonly string[],
  { names, problem }: Known,
): Finding[] {
  return given.flatMap((name, place) =>
    names === null || names.includes(name) ? [] : [wrong([...path, place], problem)],
  );
}
