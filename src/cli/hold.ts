import { Command } from "commander";
import type { JsonObject } from "../platform/json.ts";
import {
  askGateway,
  type ControlOptions,
  exitWith,
  finish,
  finishDone,
  outcomeOf,
} from "./control-client.ts";
import { malformed } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { stopSignal } from "./stop-signal.ts";

interface Options extends ControlOptions {
  readonly all?: boolean;
  readonly release?: boolean;
  readonly user?: string;
}

/** `fleetgate hold`: holds a robot, or lifts a hold, through the gateway of this machine. */
export function holdCommand(): Command {
  const command = new Command("hold").description(
    "hold a robot: stop what it does, and refuse starts until the hold is lifted",
  );
  return socketOptions(command)
    .argument("[robot]", "the robot, by robot_id")
    .option("--all", "all robots, instead of one")
    .option("--release", "lift your hold; nothing is resumed")
    .option("--user <user>", "with --release: lift this user's hold, as opcua:plc1 (for engineers)")
    .option("--json", "print a JSON object")
    .addHelpText("after", "\nA hold is no safety function. Emergency stops and interlocks stay hard-wired.")
    .action((robot: string | undefined, options: Options) => exitWith(() => run(robot, options)));
}

/** Holds a robot, or lifts a hold. It may be repeated without harm, so it needs no id. */
async function run(robot: string | undefined, options: Options): Promise<number> {
  const { all = false, release = false, user } = options;
  if (all === (robot !== undefined)) throw malformed("name a robot, or give --all");
  if (user !== undefined && !release) throw malformed("--user needs --release");
  const path = robot === undefined ? "/api/v1/hold" : `/api/v1/robots/${encodeURIComponent(robot)}/hold`;
  const body: JsonObject = { hold: !release, ...(user === undefined ? {} : { user }) };
  const answer = await askGateway(await findSocket(options), { method: "PUT", path, body }, stopSignal());
  if (answer.status >= 400) return finish(outcomeOf(null, answer), options);
  const { held, by, message } = answer.body;
  const state = held === true && Array.isArray(by) ? `held by ${by.join(", ")}` : "held by nobody";
  const text = typeof message === "string" ? `${state}; ${message}` : state;
  return finishDone(text, answer.body, options);
}
