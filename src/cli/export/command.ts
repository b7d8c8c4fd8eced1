import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { makeFolder } from "../../platform/make-folder.ts";
import { builtAt, version } from "../../version.ts";
import { fail } from "../exit.ts";
import { FG_COMMAND } from "./fg-command.ts";
import { readFunctionBlock } from "./function-block.ts";
import { plcOpenXml } from "./plcopen.ts";
import { sclSource } from "./scl.ts";

/** `fleetgate export`: files for the programs of the office. */
export function exportCommand(): Command {
  return new Command("export")
    .description("write files that other programs import")
    .addCommand(exportOpcUaCommand());
}

function exportOpcUaCommand(): Command {
  return new Command("opcua")
    .description("write the function blocks of docs/plc.md, for CODESYS, TwinCAT and TIA Portal")
    .requiredOption("--out <folder>", "where to; files of an earlier export are replaced")
    .action(async ({ out }: { out: string }) => {
      try {
        await makeFolder(out);
        for (const [name, text] of Object.entries(opcUaFiles())) {
          await writeFile(join(out, name), text);
          process.stdout.write(`${join(out, name)}\n`);
        }
      } catch (error) {
        fail(error, () => "");
      }
    });
}

/** The files by name: the same program writes the same bytes. */
function opcUaFiles(): Readonly<Record<string, string>> {
  const block = readFunctionBlock(FG_COMMAND);
  const header = { product: "Fleetgate", version, at: builtAt().toISOString() };
  return {
    "FG_Command.st": FG_COMMAND,
    "FG_Command.xml": plcOpenXml([block], header),
    "FG_Command.scl": sclSource(block),
  };
}
