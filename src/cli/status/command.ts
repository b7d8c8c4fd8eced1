import { setTimeout as wait } from "node:timers/promises";
import { Command, Option } from "commander";
import { systemClock } from "../../platform/clock.ts";
import type { JsonObject } from "../../platform/json.ts";
import { jsonLine, plain } from "../../platform/plain-text.ts";
import { askGateway, CallFailed, outcomeOf } from "../control-client.ts";
import type { ControlOptions } from "../control-command.ts";
import { fail, statusCodes } from "../exit.ts";
import { findSocket, socketOptions } from "../installed.ts";
import { positive } from "../option.ts";
import { localTime } from "../readable.ts";
import { stopSignal } from "../stop-signal.ts";
import { endWithReader } from "../unread-output.ts";
import { readEarlierStatus, waitAsBefore } from "./as-before.ts";
import { headline, statusLines } from "./status-text.ts";
import { unitState } from "./unit-state.ts";

interface Options extends ControlOptions {
  readonly watch?: boolean;
  /** The file of an earlier status. */
  readonly asBefore?: string;
  readonly within: number;
}

const ANSWER_MS = 5_000;
const WATCH_MS = 2_000;

const help = `
Exit codes: 0 all is well, 1 degraded, 2 down or starting, 3 no gateway answers. With --as-before: 0 all is up
that was up then, 2 something is not.

Examples:
  sudo fleetgate status
  sudo fleetgate status --watch
  sudo fleetgate status --socket /var/lib/fleetgate-instances/hall2/control.sock
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
  const { asBefore, within, watch: isWatched = false } = options;
  if (asBefore !== undefined) return compare(socketPath, readEarlierStatus(asBefore), within, signal);
  return isWatched ? watch(socketPath, options, signal) : show(socketPath, options, signal);
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
  for (const each of missing) process.stdout.write(`${plain(each)}\n`);
  return missing.length === 0 ? statusCodes.up : statusCodes.down;
}

async function show(socketPath: string, options: Options, signal: AbortSignal): Promise<number> {
  const { json } = options;
  try {
    const status = await askStatus(socketPath, signal);
    const code = codeOf(status);
    process.exitCode = code;
    process.stdout.write(`${json === true ? jsonLine(status) : statusLines(status).join("\n")}\n`);
    return code;
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    // On standard output, because monitoring systems show its first line.
    const unit = await unitState(options);
    const text = `${plain(error.message)}${unit === null ? "" : `; ${plain(unit)}`}`;
    if (json !== true) process.stdout.write(`no answer: ${text}\n`);
    else process.stderr.write(`fleetgate: ${text}\n`);
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
    const failure = status instanceof CallFailed ? `no answer: ${plain(status.message)}` : null;
    if (options.json === true) {
      if (status instanceof CallFailed) process.stderr.write(`fleetgate: ${plain(status.message)}\n`);
      else process.stdout.write(`${jsonLine(status)}\n`);
    } else if (process.stdout.isTTY) {
      const lines = status instanceof CallFailed ? [failure ?? ""] : statusLines(status);
      screen.show([time, ...lines]);
    } else process.stdout.write(`${time}  ${status instanceof CallFailed ? failure : headline(status)}\n`);
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
  /** Lines without control characters. Longer text is cut off. */
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
      const text = shown.map((line) => `${cut(line, columns)}${CLEAR_LINE}\n`).join("");
      output.write(`${isFirst ? CLEAR_ALL : ""}${HOME}${text}${CLEAR_BELOW}`);
      isFirst = false;
    },
  };
}

function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}
