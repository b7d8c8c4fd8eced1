import { z } from "zod";
import { liveFields } from "./fields.ts";
import { alarmsSection } from "./sections/alarms.ts";
import { clusterSection } from "./sections/cluster.ts";
import { commandsSection, conveyorsSection } from "./sections/commands.ts";
import { fleetSection, qualitySection } from "./sections/fleet.ts";
import { controlSection, gatewaySection, logSection, recorderSection } from "./sections/gateway.ts";
import { mqttSection } from "./sections/mqtt.ts";
import { opcuaSection } from "./sections/opcua.ts";
import { rightsSection } from "./sections/rights.ts";
import { stationsSection } from "./sections/stations.ts";
import { webSection } from "./sections/web.ts";

/** The whole file. Strict: an unknown key is a mistake. */
export const configSchema = z.strictObject({
  gateway: gatewaySection,
  log: logSection,
  fleet: fleetSection,
  quality: qualitySection,
  mqtt: mqttSection.optional(),
  opcua: opcuaSection.optional(),
  web: webSection.optional(),
  cluster: clusterSection.optional(),
  control: controlSection,
  commands: commandsSection,
  rights: rightsSection,
  stations: stationsSection,
  conveyors: conveyorsSection,
  alarms: alarmsSection,
  recorder: recorderSection,
});

export type ConfigFile = z.output<typeof configSchema>;

/** The JSON schema of the file, for editors that complete and check while typing. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    ...z.toJSONSchema(configSchema, {
      io: "input",
      target: "draft-7",
      override({ zodSchema, jsonSchema }) {
        if (liveFields.get(zodSchema)?.reloads.includes("changed") !== true) return;
        jsonSchema.description = [jsonSchema.description, "A reload changes it."].filter(Boolean).join(" ");
      },
    }),
    title: "Fleetgate configuration",
  };
}
