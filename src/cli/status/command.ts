import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Command, Option } from "commander";
import { systemClock } from "../../platform/clock.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { fileProblem } from "../../platform/plain-file.ts";
import { jsonLine, plain } from "../../platform/plain-text.ts";
import { askGateway, CallFailed, type ControlOptions, outcomeOf } from "../control-client.ts";
import { exitCodes, fail, malformed, statusCodes } from "../exit.ts";
import { findSocket, type GatewayLocation, installed, socketOptions } from "../installed.ts";
import { positive } from "../option.ts";
import { complain, localTime, say } from "../readable.ts";
import { endWithReader, stopSignal } from "../stop-signal.ts";
import { clusterLine, headline, statusLines } from "./status-text.ts";

interface Options extends ControlOptions {
  readonly watch?: boolean;
  /** The file of an earlier status. */
  readonly asBefore?: string;
  readonly within: number;
  readonly active?: boolean;
}

const ANSWER_MS = 5_000;
const WATCH_MS = 2_000;

const help = `
Exit codes: 0 all is well, 1 degraded, 2 down or starting, 3 no gateway answers. With --as-before: 0 all is up
that was up then, 2 something is not. With --active: 0 this gateway leads its cluster, 1 it stands by, 2 it has
no proof that it leads, or no cluster, 3 no gateway answers.

Examples:
  sudo fleetgate status
  sudo fleetgate status --watch
  sudo fleetgate status --socket /var/lib/fleetgate-instances/hall2/control.sock
  sudo fleetgate status --active
  sudo fleetgate status --json`;

/** `fleetgate status`: the state of the gateway of this machine. */
export function statusCommand(): Command {
  const command = new Command("status").description(
    "show how the gateway of this machine is: links, robots, queues, alarms, certificates, disk",
  );
  return socketOptions(command)
    .option("--watch", "show it anew every 2 s, until Ctrl-C")
    .option("--json", "print one JSON object a line")
    .addOption(
      new Option(
        "--as-before <file>",
        "wait until all is up that was up in FILE, which --json has printed",
      ).conflicts(["watch", "json"]),
    )
    .addOption(
      new Option("--active", "only whether it leads its cluster, as exit code and a line").conflicts([
        "watch",
        "json",
        "asBefore",
      ]),
    )
    .addOption(new Option("--within <seconds>", "how long --as-before waits").argParser(positive).default(10))
    .addHelpText("after", help)
    .action(async (options: Options) => {
      endWithReader();
      try {
        const socketPath = await findSocket(options);
        const signal = stopSignal();
        process.exitCode = await run(socketPath, options, signal);
      } catch (error) {
        fail(error, () => "");
      }
    });
}

function run(socketPath: string, options: Options, signal: AbortSignal): Promise<number> {
  const { asBefore, within, watch: isWatched = false, active: isRole = false } = options;
  if (asBefore !== undefined) return compare(socketPath, readEarlierStatus(asBefore), within, signal);
  if (isWatched) return watch(socketPath, options, signal);
  return show(socketPath, options, signal, isRole ? roleOf : statusOf);
}

async function compare(
  socketPath: string,
  before: JsonObject,
  withinSeconds: number,
  signal: AbortSignal,
): Promise<number> {
  const ask = () =>
    askStatus(socketPath, signal).catch((error: unknown) => {
      asFailure(error);
      return null;
    });
  const missing = await waitAsBefore(before, ask, withinSeconds * 1_000, signal);
  for (const each of missing) say(plain(each));
  return missing.length === 0 ? statusCodes.up : statusCodes.down;
}

/** The text about a status, and the exit code. */
type Report = (status: JsonObject) => { readonly lines: readonly string[]; readonly code: number };

const statusOf: Report = (status) => ({ lines: statusLines(status), code: codeOf(status) });

const roleCodes: Readonly<Record<string, number>> = {
  leader: statusCodes.up,
  standby: statusCodes.degraded,
};

const roleOf: Report = ({ cluster }) => {
  if (!isJsonObject(cluster))
    return { lines: ["this gateway is no member of a cluster"], code: statusCodes.down };
  const { role } = cluster;
  return { lines: [clusterLine(cluster)], code: roleCodes[String(role)] ?? statusCodes.down };
};

async function show(
  socketPath: string,
  options: Options,
  signal: AbortSignal,
  report: Report,
): Promise<number> {
  const { json } = options;
  try {
    const status = await askStatus(socketPath, signal);
    const { lines, code } = report(status);
    process.exitCode = code;
    say(json === true ? jsonLine(status) : lines.join("\n"));
    return code;
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    // On standard output, because monitoring systems show its first line.
    const unit = await unitState(options);
    const text = plain(`${error.message}${unit === null ? "" : `; ${unit}`}`);
    if (json === true) complain(text);
    else say(`no answer: ${text}`);
    return statusCodes.noAnswer;
  }
}

/** Until the signal is aborted, also while no gateway answers. */
async function watch(socketPath: string, options: Options, signal: AbortSignal): Promise<number> {
  const screen = createScreen(process.stdout);
  while (!signal.aborted) {
    const status = await askStatus(socketPath, signal).catch(asFailure);
    if (signal.aborted) break;
    const time = localTime(systemClock.nowMs());
    const failure = status instanceof CallFailed ? plain(`no answer: ${status.message}`) : null;
    if (options.json === true) {
      if (status instanceof CallFailed) complain(plain(status.message));
      else say(jsonLine(status));
    } else if (process.stdout.isTTY) {
      const lines = status instanceof CallFailed ? [failure ?? ""] : statusLines(status);
      screen.show([time, ...lines]);
    } else say(`${time}  ${status instanceof CallFailed ? failure : headline(status)}`);
    // Rejects if it is interrupted.
    await wait(WATCH_MS, undefined, { signal }).catch(() => {});
  }
  return statusCodes.up;
}

async function askStatus(socketPath: string, signal: AbortSignal): Promise<JsonObject> {
  const request = { method: "GET", path: "/api/v1/status", timeoutMs: ANSWER_MS } as const;
  return outcomeOf(null, await askGateway(socketPath, request, signal));
}

function asFailure(error: unknown): CallFailed {
  if (error instanceof CallFailed) return error;
  throw error;
}

function codeOf({ state }: JsonObject): number {
  if (state === "up") return statusCodes.up;
  return state === "degraded" ? statusCodes.degraded : statusCodes.down;
}

/** The part of a terminal that a screen needs. */
export interface ScreenOutput {
  readonly rows?: number;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A terminal on which each text replaces the last one. */
export interface Screen {
  /** Longer text is cut off. */
  show(lines: readonly string[]): void;
}

const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_ALL = "\x1b[2J";

export function createScreen(output: ScreenOutput): Screen {
  let isFirst = true;
  return {
    show(lines) {
      // A serial console reports 0, because it does not know its size.
      const columns = output.columns || 80;
      const room = (output.rows || 24) - 1;
      const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), "…"];
      const text = shown.map((line) => `${cut(plain(line), columns)}${CLEAR_LINE}\n`).join("");
      output.write(`${isFirst ? CLEAR_ALL : ""}${HOME}${text}${CLEAR_BELOW}`);
      isFirst = false;
    },
  };
}

function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}

const LOOK_MS = 200;
/** A broker that restarts at the same moment is back by then. */
const LEAST_DOWN_MS = 5_000;

/**
 * Waits until everything is up that was up in an earlier status. Parts of the gateway itself may be degraded:
 * a start makes a busy disk slow. What has gone from the gateway meanwhile, or is new in it, does not count.
 * A part that is down without a break for a third of the time, and at least 5 s, is not waited for any
 * longer: it has failed several times, and one that only starts slowly says so.
 *
 * @param ask the status now; null: no gateway answers
 * @returns what is not up, a sentence each, when the time is over; empty: all is up
 */
async function waitAsBefore(
  before: JsonObject,
  ask: () => Promise<JsonObject | null>,
  withinMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const wanted = partsOf(before.links, before.parts).flatMap(([name, { state }]) =>
    state === "up" ? [name] : [],
  );
  const untilMs = performance.now() + withinMs;
  const longestDownMs = Math.max(LEAST_DOWN_MS, withinMs / 3);
  while (true) {
    const missing = missingIn(await ask(), wanted);
    const isLost = missing.some(({ downMs }) => downMs >= longestDownMs);
    if (missing.length === 0 || isLost || signal.aborted || performance.now() > untilMs)
      return missing.map(({ problem }) => problem);
    await wait(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

/** A status that `fleetgate status --json` has printed. */
function readEarlierStatus(path: string): JsonObject {
  try {
    const status: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isJsonObject(status)) return status;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw malformed(`${path} ${fileProblem(error)}`);
  }
  throw malformed(`${path} is not what fleetgate status --json prints`);
}

/** A part that is not up. */
interface Missing {
  /** For how long it is down; 0: it is not. */
  readonly downMs: number;
  readonly problem: string;
}

function missingIn(now: JsonObject | null, wanted: readonly string[]): readonly Missing[] {
  if (now === null) return [{ downMs: 0, problem: "no gateway answers" }];
  const own = partsOf(now.parts).map(([name]) => name);
  return partsOf(now.links, now.parts).flatMap(([name, { state, detail, since }]) => {
    const isWell = state === "up" || (state === "degraded" && own.includes(name));
    if (isWell || !wanted.includes(name)) return [];
    const reason = typeof detail === "string" && detail !== "" ? `: ${detail}` : "";
    const problem = `${name} is ${String(state)}, and was up${reason}`;
    const downMs = state === "down" ? Date.parse(String(now.at)) - Date.parse(String(since)) : 0;
    return [{ downMs, problem }];
  });
}

function partsOf(...lists: readonly unknown[]): ReadonlyArray<readonly [name: string, part: JsonObject]> {
  return lists
    .flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []))
    .filter(isJsonObject)
    .flatMap((part) => (typeof part.name === "string" ? [[part.name, part] as const] : []));
}

const SYSTEMCTL_MS = 2_000;

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
    execFile(program, args, { timeout: SYSTEMCTL_MS }, (_error, stdout) => resolve(stdout));
  });
}
