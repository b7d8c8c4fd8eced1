import { join, resolve } from "node:path";
import { z } from "zod";
import type { ControlOptions } from "../../northbound/web/options.ts";
import { logLevels } from "../../platform/log.ts";
import type { RecorderOptions } from "../../platform/recorder/recording.ts";
import { flag, live, shortName } from "../fields.ts";

/** `gateway:` the id of this gateway, and the folder for data that must survive a restart. */
export const gatewaySection = z
  .strictObject({
    id: z
      .string()
      .regex(shortName, {
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

/** The limit of the system call: `sun_path` of sockaddr_un without its closing zero. */
const LONGEST_PATH_BYTES = process.platform === "darwin" ? 103 : 107;

/** `control:` the socket of `fleetgate call`. */
export const controlSection = z
  .strictObject({
    enabled: flag(true, "Whether programs of this machine may command."),
    socket: z
      .string()
      .min(1)
      .optional()
      .describe("Unix domain socket. Default: control.sock in gateway.dataDir."),
  })
  .prefault({})
  .describe("Commands from this machine, by a socket for the gateway's own user.");

export type ControlSection = z.output<typeof controlSection>;

/** The path of the socket. `folder` is that of the configuration file; both are absolute. */
export function socketPath(section: ControlSection, folder: string, dataDir: string): string {
  return section.socket === undefined ? join(dataDir, "control.sock") : resolve(folder, section.socket);
}

/** Why a socket cannot have this path; null: it can. */
export function socketPathProblem(path: string): string | null {
  const bytes = Buffer.byteLength(path);
  if (bytes <= LONGEST_PATH_BYTES) return null;
  return `${path} has ${bytes} bytes, and the name of a socket at most ${LONGEST_PATH_BYTES}: give control.socket a shorter one`;
}

/** The options of the control socket; null: it is off. */
export function controlOptions(section: ControlSection, path: string): ControlOptions | null {
  return section.enabled && socketPathProblem(path) === null ? { socketPath: path } : null;
}

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

type RecorderSection = z.output<typeof recorderSection>;

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
