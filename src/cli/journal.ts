import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { lockFolder } from "../platform/folder-lock.ts";
import { asOwnerOf } from "../platform/folder-owner.ts";
import { confirmLosses, discardStore } from "../platform/stores/kept-store.ts";
import { fail, NotPossible } from "./exit.ts";
import { dataOptions, findDataFolder, type GatewayLocation } from "./installed.ts";

interface Options extends GatewayLocation {
  readonly discard?: true;
}

const STOP_FIRST = "stop the gateway first, and start it again afterwards";

/** `fleetgate journal`: an operator's work on the record of commands. */
export function journalCommand(): Command {
  const command = new Command("reset").description(
    "confirm that the outcomes of earlier commands are lost, so that the gateway sends again",
  );
  const reset = dataOptions(command)
    .option(
      "--discard",
      "begin with an empty journal: a backup, an older copy of the data folder or an older program was installed",
    )
    .action(async (options: Options) => {
      try {
        const folder = await findDataFolder(options);
        await asOwnerOf(folder, () => resetJournal(folder, options.discard === true));
      } catch (error) {
        fail(error, () => "");
      }
    });
  return new Command("journal").description("the gateway's record of commands").addCommand(reset);
}

/**
 * Tickets first. With an empty journal, an old ticket would be reported as never sent; without tickets, an
 * old journal does no harm.
 */
const STORES = ["tickets", "journal"];

async function resetJournal(dataDir: string, discards: boolean): Promise<void> {
  // A backup has no journal.
  const shown = ["journal", "cluster", ...(discards ? ["opcua"] : [])];
  if (!shown.some((name) => existsSync(join(dataDir, name))))
    throw new NotPossible(`${dataDir} is no gateway's data folder`);
  const lock = await lockFolder(dataDir, STOP_FIRST);
  const losses = confirmLosses(dataDir);
  if (discards) await discardStores(dataDir);
  await lock[Symbol.asyncDispose]();
  if (!discards && losses.length === 0) {
    process.stdout.write(
      `Nothing is lost in ${dataDir}, or no gateway has started since: nothing was changed.\n`,
    );
  }
  for (const { folder, since, reason, keptAs } of losses) {
    const kept = keptAs === null ? "" : ` What there was is kept as ${keptAs}.`;
    process.stdout.write(`${folder}: its loss on ${since} is confirmed (${reason}).${kept}\n`);
  }
}

async function discardStores(dataDir: string): Promise<void> {
  // Loaded here and not at the top: other subcommands do not need the stores.
  const { otherFormats } = await import("../composition/stores.ts");
  const wanted = STORES.map((store) => join(dataDir, store));
  // This program would not start with a store that a newer one has written.
  const newer = otherFormats(dataDir).flatMap(({ folder, found, own }) => (found > own ? folder : []));
  for (const folder of [...wanted, ...newer.filter((each) => !wanted.includes(each))]) {
    const keptAs = await discardStore(folder, Date.now(), null);
    const kept = keptAs === null ? "" : ` What there was is kept as ${keptAs}.`;
    process.stdout.write(`${folder} begins empty.${kept}\n`);
  }
}
