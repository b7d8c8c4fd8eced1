import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { exitCodes } from "../exit.ts";
import { type GatewayLocation, installed } from "../installed.ts";

const ANSWER_MS = 2_000;

/**
 * Why the unit of a gateway does not run, as systemd knows it, in one line. Null: it runs, or there is no
 * such unit, or no systemd.
 *
 * @param systemctl the program to ask
 */
export async function unitState(location: GatewayLocation, systemctl = "systemctl"): Promise<string | null> {
  const unit = unitOf(location);
  if (unit === null) return null;
  const names = ["LoadState", "ActiveState", "Result", "ExecMainStatus"];
  const text = await outputOf(systemctl, ["show", unit, `--property=${names.join(",")}`]);
  const lines = text.split("\n").map((line) => line.split("=", 2));
  const { LoadState, ActiveState, Result, ExecMainStatus }: Record<string, string> =
    Object.fromEntries(lines);
  if (LoadState !== "loaded") return null;
  if (ActiveState === "inactive") return `${unit} is stopped: sudo systemctl start ${unit}`;
  if (ActiveState === "activating" || ActiveState === "failed")
    return `${unit} is ${ActiveState}: ${cause(unit, location.config, Result, Number(ExecMainStatus))}`;
  return null;
}

/** The unit that starts the configuration; null: the package has none for it. */
function unitOf({ config, socket }: GatewayLocation): string | null {
  if (socket !== undefined || dirname(config) !== dirname(installed.config)) return null;
  return config === installed.config ? "fleetgate.service" : `fleetgate@${basename(config, ".yaml")}.service`;
}

function cause(unit: string, config: string, result: string | undefined, status: number): string {
  if (status === exitCodes.config)
    return `the configuration has mistakes, which sudo fleetgate check --config ${config} names`;
  if (status === exitCodes.data) return "a newer program has written the data folder; install that version";
  const how = status === 0 ? (result ?? "") : `exit code ${status}`;
  return `${how}; sudo journalctl -u ${unit} -n 20 shows why`;
}

/** Empty if there is no such program, or it fails. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: ANSWER_MS }, (_error, stdout) => resolve(stdout));
  });
}
