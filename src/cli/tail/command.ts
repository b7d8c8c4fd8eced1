import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { nearest } from "../../config/nearest.ts";
import { systemClock } from "../../platform/clock.ts";
import { jsonLine, plain } from "../../platform/plain-text.ts";
import { CallFailed } from "../control-client.ts";
import { type ControlOptions, exitWith, socketOptions, usualSocket } from "../control-command.ts";
import { exitCodes, malformed } from "../exit.ts";
import { localTime } from "../readable.ts";
import { stopSignal } from "../stop-signal.ts";
import { endWithReader } from "../unread-output.ts";
import { eventLine } from "./event-text.ts";
import { followEvents } from "./follow.ts";

interface Options extends ControlOptions {
  readonly robot: readonly string[];
  readonly kind: readonly string[];
}

/** The values of `kinds` of `GET /api/v1/tail`. */
const kinds = ["mission", "alarm", "command", "conveyor", "lease", "hold", "dropped", "state"];
const AGAIN_MS = 1_000;

const help = `
Kinds: ${kinds.join(", ")}. A state is the quality of a robot.
It goes on when the gateway comes back, until Ctrl-C. What happens meanwhile is not shown.

Examples:
  sudo fleetgate tail
  sudo fleetgate tail --robot cart-17 --kind mission --kind command
  sudo fleetgate tail --kind alarm --json`;

/** `fleetgate tail`: follows what happens at the gateway of this machine. */
export function tailCommand(): Command {
  const command = new Command("tail").description(
    "follow missions, alarms, commands and more as they happen",
  );
  return socketOptions(command)
    .option("--robot <id>", "only of this robot; may be repeated", collect, [])
    .option("--kind <kind>", "only of this kind; may be repeated", collect, [])
    .option("--json", "print one JSON object a line")
    .addHelpText("after", help)
    .action((options: Options) => exitWith(() => tail(options)));
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/**
 * The exit code. Rejects with CallFailed when no gateway answers the first time, and with NotPossible when
 * the filters are wrong.
 */
async function tail(options: Options): Promise<number> {
  endWithReader();
  const path = pathOf(options);
  const socketPath = await usualSocket(options);
  const signal = stopSignal();
  const isJson = options.json === true;
  let away: string | null = null;
  /** Whether the gateway has answered at least once. */
  let isKnown = false;
  const say = (text: string) => {
    if (isJson) process.stderr.write(`fleetgate: ${plain(text)}\n`);
    else process.stdout.write(`${localTime(systemClock.nowMs())}  ${plain(text)}\n`);
  };
  while (!signal.aborted) {
    try {
      const reason = await followEvents(
        socketPath,
        path,
        (event) => {
          isKnown = true;
          if (away !== null) say("the gateway is back; what happened meanwhile is not shown");
          away = null;
          if (event.kind === "open" || event.kind === "alive") return;
          process.stdout.write(`${isJson ? jsonLine(event) : eventLine(event)}\n`);
        },
        signal,
      );
      away = reason;
      if (!signal.aborted) say(`${reason}; waiting for it to come back`);
    } catch (error) {
      if (signal.aborted) break;
      // Later requests would be refused like the first. A gateway that answered before is coming back.
      if (!(error instanceof CallFailed) || !isKnown) throw error;
      away ??= error.message;
    }
    // Rejects when it is interrupted.
    await wait(AGAIN_MS, undefined, { signal }).catch(() => {});
  }
  return exitCodes.ok;
}

function pathOf({ robot, kind }: Options): string {
  const wrong = kind.find((each) => !kinds.includes(each));
  if (wrong !== undefined) {
    const meant = nearest(wrong, kinds);
    const advice = meant === undefined ? `it is one of ${kinds.join(", ")}` : `the nearest is ${meant}`;
    throw malformed(`--kind: there is no ${wrong}; ${advice}`);
  }
  const query = new URLSearchParams([
    ...robot.map((each): [string, string] => ["robot", each]),
    ...kind.map((each): [string, string] => ["kind", each]),
  ]).toString();
  return query === "" ? "/api/v1/tail" : `/api/v1/tail?${query}`;
}
