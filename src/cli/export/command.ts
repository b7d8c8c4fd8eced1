import { join } from "node:path";
import { Command } from "commander";
import { createCatalogue } from "../../fleet/operations.ts";
import { makeFolder } from "../../platform/folder.ts";
import { replaceFile } from "../../platform/kept-file.ts";
import { exitWithProblems, reported } from "../configuration.ts";
import { exitCodes, fail, NotPossible } from "../exit.ts";
import { publicAccess, whyNotWritten } from "../new-file.ts";

/** `fleetgate export`: files for engineering and SCADA tools. */
export function exportCommand(): Command {
  return new Command("export")
    .description("write files that other programs import")
    .addCommand(exportOpcUaCommand());
}

const DEFAULT_OPC_SERVER = "Fleetgate";

interface OpcUaExport {
  readonly out: string;
  readonly config?: string;
  readonly instances?: boolean;
  readonly opcServer: string;
}

const examples = `
Examples:
  fleetgate export opcua --out plc
      function blocks, and a NodeSet2 of the object types
  fleetgate export opcua --out plc --config fleetgate.yaml
      also tags.csv and ignition-tags.json of this plant, and its ModelHash
  fleetgate export opcua --out plc --config fleetgate.yaml --instances
      the NodeSet2 has this plant's stations and robots, too

The configuration is all that is read: no secret, no certificate, no gateway.`;

function exportOpcUaCommand(): Command {
  return new Command("opcua")
    .description("write what engineering tools import: function blocks, a NodeSet2 and lists of tags")
    .requiredOption("--out <folder>", "where to; files of an earlier export are replaced")
    .option("-c, --config <file>", "the configuration, for the tags of its stations and robots")
    .option("--instances", "the nodes of stations and robots in the NodeSet2, too")
    .option("--opc-server <name>", "the name of the OPC connection in Ignition", DEFAULT_OPC_SERVER)
    .addHelpText("after", examples)
    .action(async (options: OpcUaExport) => {
      try {
        const { blockFiles } = await import("./block-files.ts");
        const { files, news } = await exportOf(options);
        await makeFolder(options.out);
        const all: Export["files"] = { ...blockFiles(), ...files };
        for (const [name, text] of Object.entries(all)) {
          const path = join(options.out, name);
          await write(path, text);
          process.stdout.write(`${path}\n`);
        }
        for (const line of news) process.stdout.write(`${line}\n`);
      } catch (error) {
        fail(error, () => "");
      }
    });
}

/** Whole or not at all, because a tool must not import half a file. A link is replaced, not followed. */
async function write(path: string, text: Iterable<string>): Promise<void> {
  try {
    await replaceFile(path, text, { mode: publicAccess.mode, isSynced: false });
  } catch (error) {
    throw new NotPossible(`${path} ${whyNotWritten(error)}`);
  }
}

interface Export {
  readonly files: Readonly<Record<string, Iterable<string>>>;
  /** Further lines of the output. */
  readonly news: readonly string[];
}

/** The export of the types, and of the configuration if there is one. */
async function exportOf({ config: path, instances = false, opcServer }: OpcUaExport): Promise<Export> {
  const { plantFiles, typeFiles } = await import("./plant-files.ts");
  const operations = createCatalogue();
  if (path === undefined) {
    if (!instances) return { files: typeFiles(operations), news: [] };
    throw new NotPossible("--instances needs --config <file>, which names them", exitCodes.usage);
  }
  const { loadOpcUa } = await import("../../config/load-opcua.ts");
  const loaded = await loadOpcUa(path, operations);
  if (!loaded.ok) exitWithProblems(path, reported(loaded.problems, "error"), "nothing was written");
  if (loaded.opcua === null) {
    throw new NotPossible(`${path} has no section opcua: its gateway has no tags`, exitCodes.config);
  }
  const { files, modelHash, gaps } = plantFiles(loaded.opcua, operations, {
    opcServer,
    hasInstances: instances,
  });
  return { files, news: [`Gateway.ModelHash ${modelHash}`, ...gaps] };
}
