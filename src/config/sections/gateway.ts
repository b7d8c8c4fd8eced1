import { z } from "zod";
import { logLevels } from "../../platform/log.ts";
import { live } from "../fields.ts";

/** `gateway:` the id of this gateway, and the folder for data that must survive a restart. */
export const gatewaySection = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, {
        error: "use 1 to 63 letters, digits, - and _, the first a letter or digit: it names topics and nodes",
      })
      .describe("Unique in the plant: part of every MQTT topic."),
    dataDir: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Folder for what must survive a restart. Default: $STATE_DIRECTORY of systemd, or `data` beside this file.",
      ),
  })
  .describe("This gateway.");

/** `log:` what is written to standard error. */
export const logSection = z
  .strictObject({
    level: live(z.enum(logLevels).default("info").describe("The least important line to write.")),
    format: z.enum(["json", "text"]).default("json").describe("For programs, or for people."),
  })
  .prefault({})
  .describe("Lines on standard error.");
