import { Command } from "commander";
import type { JsonObject } from "../platform/json.ts";
import { jsonLine } from "../platform/plain-text.ts";
import { askGateway, type ControlOptions, exitWith, outcomeOf, print } from "./control-client.ts";
import { exitCodes } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { textOf } from "./readable.ts";
import { stopSignal } from "./stop-signal.ts";

/** 64 MB are written and synced to a slow disk. */
const ANSWER_MS = 60_000;
const PATH = "/api/v1/recordings";

const help = `
A recording holds what the fleet service said in the last minutes, and what the protocols were told. It is a
file in records/saved of the data folder. It holds no tokens and no passwords, but names of robots and places.

Examples:
  sudo fleetgate record save
  fleetgate simulate --replay FILE`;

/** `fleetgate record`: saves what the gateway of this machine has recorded. */
export function recordCommand(): Command {
  const save = new Command("save").description("save the last minutes to a file of the data folder");
  socketOptions(save)
    .option("--json", "print a JSON object")
    .addHelpText("after", help)
    .action((options: ControlOptions) => exitWith(() => run(options)));
  return new Command("record")
    .description("save what the gateway of this machine has recorded")
    .addCommand(save);
}

async function run(options: ControlOptions): Promise<number> {
  const request = { method: "POST", path: PATH, body: {}, timeoutMs: ANSWER_MS } as const;
  const answer: JsonObject = outcomeOf(
    null,
    await askGateway(await findSocket(options), request, stopSignal()),
  );
  if (options.json === true) return print(jsonLine(answer), exitCodes.ok);
  const { bytes } = answer;
  const text = `saved ${textOf(answer, "path")}: ${String(bytes)} bytes, from ${textOf(answer, "from")} on`;
  return print(text, exitCodes.ok);
}
