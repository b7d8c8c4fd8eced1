import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import type { JsonObject } from "../platform/json.ts";
import { jsonLine } from "../platform/plain-text.ts";
import { askList, type ControlOptions, exitWith, print } from "./control-client.ts";
import { exitCodes } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { columns, listOf, objectOf, textOf } from "./readable.ts";
import { endWithReader, stopSignal } from "./stop-signal.ts";

/** A gateway that has just started hears of its robots within seconds. */
const TRIES = 10;
const AGAIN_MS = 500;

const help = `
Examples:
  sudo fleetgate robots
  sudo fleetgate robots --json`;

/** `fleetgate robots`: the present values of each robot. */
export function robotsCommand(): Command {
  const command = new Command("robots").description(
    "list the robots with their present values: quality, battery, position, what they do",
  );
  return socketOptions(command)
    .option("--json", "print a JSON object with all values")
    .addHelpText("after", help)
    .action((options: ControlOptions) => exitWith(() => listRobots(options)));
}

async function listRobots(options: ControlOptions): Promise<number> {
  endWithReader();
  const [socketPath, signal] = [await findSocket(options), stopSignal()];
  let answer = await askList("robots", socketPath, signal);
  for (let tries = 0; answer.count === 0 && tries < TRIES && !signal.aborted; tries += 1) {
    await wait(AGAIN_MS);
    answer = await askList("robots", socketPath, signal);
  }
  if (options.json === true) return print(jsonLine(answer), exitCodes.ok);
  const robots = listOf(answer, "robots");
  if (robots.length === 0) return print("no robot is known yet", exitCodes.ok);
  return print(columns(robots.map(row)).join("\n"), exitCodes.ok);
}

/** A value that is not known is a dash. */
function row(robot: JsonObject): readonly string[] {
  const place = objectOf(robot, "place");
  const { charge_percent: charge } = objectOf(objectOf(objectOf(robot, "battery"), "state"), "battery_state");
  const { x, y } = place;
  const position = typeof x === "number" && typeof y === "number" ? `${x.toFixed(1)}, ${y.toFixed(1)}` : "-";
  return [
    textOf(robot, "robot_id"),
    textOf(robot, "quality"),
    typeof charge === "number" ? `${charge} %` : "-",
    textOf(place, "map_name") || "-",
    textOf(place, "point") || position,
    textOf(objectOf(robot, "idle"), "text") || "moves",
  ];
}
