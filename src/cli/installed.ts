import { type Command, Option } from "commander";
import type { PathResult } from "../config/control-socket.ts";
import { exitCodes, NotPossible } from "./exit.ts";

/** The files of the package's gateway, for a command without options. */
export const installed = {
  config: "/etc/fleetgate/fleetgate.yaml",
  data: "/var/lib/fleetgate",
  /** The data folders of further gateways on the machine. */
  instances: "/var/lib/fleetgate-instances",
  socket: "/var/lib/fleetgate/control.sock",
} as const;

/** `--config`; by default the configuration of the package. */
export function configOption(): Option {
  return new Option("-c, --config <file>", "the gateway's configuration").default(installed.config);
}

/** The options of a command that works on the files of a gateway. */
export function dataOptions(command: Command): Command {
  const data = new Option("--data <folder>", "the gateway's data folder, instead of its configuration");
  return command.addOption(configOption()).addOption(data.conflicts("config"));
}

/** The options of a command that asks a running gateway. */
export function socketOptions(command: Command): Command {
  const socket = new Option("--socket <path>", "the gateway's socket, instead of its configuration");
  return command.addOption(configOption()).addOption(socket.conflicts("config"));
}

/** A gateway by its configuration, or by one of its files. */
export interface GatewayLocation {
  readonly config: string;
  readonly data?: string;
  readonly socket?: string;
}

/** The gateway's data folder. Rejects with NotPossible if the configuration does not name it. */
export async function findDataFolder({ config, data }: GatewayLocation): Promise<string> {
  if (data !== undefined) return data;
  const { readDataDir } = await import("../config/control-socket.ts");
  return pathOf(await readDataDir(config, await environmentOf(config)), "");
}

/**
 * The gateway's socket. Rejects with NotPossible if the configuration does not name it. The package's gateway
 * is found at its usual socket if its configuration cannot be read or has mistakes: it may run all the same.
 */
export async function findSocket({ config, socket }: GatewayLocation): Promise<string> {
  if (socket !== undefined) return socket;
  const { readSocketPath } = await import("../config/control-socket.ts");
  const found = await readSocketPath(config, await environmentOf(config));
  if (!found.ok && config === installed.config) return installed.socket;
  return pathOf(found, ". With --socket PATH no file is needed");
}

async function environmentOf(config: string) {
  const { unitEnvironment } = await import("./unit-environment.ts");
  return unitEnvironment(process.env, process.getuid?.() ?? null, config).env;
}

function pathOf(found: PathResult, advice: string): string {
  if (!found.ok) throw new NotPossible(`${found.problem}${advice}`, exitCodes.config);
  return found.path;
}
