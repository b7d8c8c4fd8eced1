import { join, resolve } from "node:path";
import { z } from "zod";
import type { ControlOptions } from "../../northbound/web/options.ts";
import { flag } from "../fields.ts";

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
