import { join } from "node:path";
import { z } from "zod";
import type { RecorderOptions } from "../../platform/recorder/tap.ts";
import { flag } from "../fields.ts";

const MEGABYTE = 1024 * 1024;
const MINUTE_MS = 60_000;

/** `recorder:` the last minutes of the service's messages and of what was published. */
export const recorderSection = z
  .strictObject({
    enabled: flag(true, "Whether the disk has the last minutes."),
    maxMegabytes: z
      .number()
      .int()
      .min(1)
      .max(64)
      .default(64)
      .describe("MiB at most, of a saved recording too."),
    maxMinutes: z.number().int().min(1).max(30).default(30).describe("How far back it reaches."),
    saved: z
      .number()
      .int()
      .min(1)
      .max(20)
      .default(4)
      .describe("Saved recordings: so many of alarms, and of fleetgate record."),
  })
  .prefault({})
  .describe("Messages of the last minutes, for reports.");

export type RecorderSection = z.output<typeof recorderSection>;

/** The options of the recorder; null: it is off. */
export function recorderOptions(section: RecorderSection, dataDir: string): RecorderOptions | null {
  if (!section.enabled) return null;
  return {
    folder: join(dataDir, "records"),
    maxBytes: section.maxMegabytes * MEGABYTE,
    keepMs: section.maxMinutes * MINUTE_MS,
    saved: section.saved,
  };
}
