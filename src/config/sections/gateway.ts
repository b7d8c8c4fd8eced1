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
      .describe("Name of this gateway, unique in the plant: part of every MQTT topic."),
    dataDir: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Folder for what must survive a restart. Default: $STATE_DIRECTORY, which systemd sets; else `data` beside this file.",
      ),
  })
  .describe("Who this gateway is.");

/** `log:` what is written to standard error. */
export const logSection = z
  .strictObject({
    level: live(
      z.enum(logLevels).default("info").describe("The least important line that is still written."),
    ),
    format: z.enum(["json", "text"]).default("json").describe("JSON for programs, or a text for people."),
  })
  .prefault({})
  .describe("Lines on standard error.");
