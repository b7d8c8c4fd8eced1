import { Command } from "commander";
import { isJsonObject, type JsonObject } from "../platform/json.ts";
import { plain } from "../platform/plain-text.ts";
import { askGateway, CallFailed, type ControlOptions, exitWith, print } from "./control-client.ts";
import { exitCodes } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { complain } from "./readable.ts";
import { stopSignal } from "./stop-signal.ts";

/** `fleetgate reload`: makes the gateway of this machine read its configuration again. */
export function reloadCommand(): Command {
  const command = new Command("reload").description(
    "let the running gateway read its configuration again: all that is new in it, or nothing",
  );
  return socketOptions(command)
    .option("--json", "print a JSON object")
    .addHelpText(
      "after",
      "\nExit code 0: what is new holds. 78: refused, and nothing has changed.\n" +
        "1: no gateway answers. 6: not known, it went away before it answered.\n" +
        "\nExample: sudo fleetgate reload",
    )
    .action((options: ControlOptions) => exitWith(() => run(options)));
}

async function run(options: ControlOptions): Promise<number> {
  const request = { method: "POST", path: "/api/v1/reload" } as const;
  const { status, body } = await askGateway(await findSocket(options), request, stopSignal());
  if (!Array.isArray(body.applied) || !Array.isArray(body.refused))
    throw new CallFailed(`the gateway answered ${status}: ${String(body.detail ?? "")}`, status >= 500);
  const exitCode = body.refused.length === 0 ? exitCodes.ok : exitCodes.config;
  if (options.json === true) return print(JSON.stringify(body), exitCode);
  for (const line of lines(body.warnings)) process.stderr.write(`warning: ${line}\n`);
  for (const line of lines(body.refused)) process.stderr.write(`${line}\n`);
  if (body.refused.length > 0) {
    complain("the configuration was not reloaded; nothing has changed");
    return exitCode;
  }
  if (body.applied.length === 0) return print("nothing in the configuration is new", exitCode);
  return print(`in use now: ${body.applied.join(", ")}`, exitCode);
}

/** Each key with its text. */
function lines(list: unknown): readonly string[] {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [];
  return entries.filter(isJsonObject).map(lineOf);
}

function lineOf({ path, reason }: JsonObject): string {
  return plain(path === "" ? String(reason) : `${String(path)}: ${String(reason)}`);
}
