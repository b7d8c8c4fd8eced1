import { z } from "zod";
import type { StationOptions } from "../../bridge/dispatcher/options.ts";
import { milliseconds, names } from "../fields.ts";
import { type Finding, unwise, wrong } from "../finding.ts";
import type { OpcUaSection } from "./opcua.ts";

/** `stations:` each a PLC and the destinations that are its own. */
export const stationsSection = z
  .record(
    z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: "use 1 to 64 letters, digits, - and _" }),
    z.strictObject({
      destinations: names(
        "Display names of destinations, or codes of points: where the station may hold a robot.",
      ).min(1),
      users: names("OPC UA users who may hold robots for it. Left out: all who may write.").min(1).optional(),
      heartbeatMs: milliseconds(
        1_000,
        600_000,
        10_000,
        "A hold ends, and the conveyors that the station started stop, when its Heartbeat did not change for so long.",
      ),
    }),
  )
  .default({})
  .describe("Stations: each a PLC and the destinations that are its own.");

export type StationsSection = z.output<typeof stationsSection>;

/** What the section says, as the dispatcher wants it. */
export function stationOptions(section: StationsSection): readonly StationOptions[] {
  return Object.entries(section).map(([name, { destinations, users, heartbeatMs }]) => ({
    name,
    destinations,
    heartbeatMs,
    users: users?.map((user) => ({ door: "opcua", name: user })),
  }));
}

/** A station is a slot on OPC UA, for users that log on there. */
export function stationFindings(
  section: StationsSection,
  opcua: OpcUaSection | undefined,
): readonly Finding[] {
  const entries = Object.entries(section);
  if (entries.length > 0 && opcua === undefined) {
    return [unwise(["stations"], "have no slots, for there is no section opcua")];
  }
  return entries.flatMap(([name, { users = [] }]) =>
    users.flatMap((user, place) =>
      opcua === undefined || Object.hasOwn(opcua.users, user) || user === "anonymous"
        ? []
        : [wrong(["stations", name, "users", place], "is no user of opcua.users")],
    ),
  );
}
