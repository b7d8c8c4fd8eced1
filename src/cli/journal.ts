import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { Config } from "../config/load.ts";
import { systemClock } from "../platform/clock.ts";
import { asOwnerOf } from "../platform/folder.ts";
import { lockFolder } from "../platform/folder-lock.ts";
import { confirmLosses, discardStore } from "../platform/stores/kept-store.ts";
import { fail, NotPossible } from "./exit.ts";
import { configOption, dataOptions, findDataFolder, type GatewayLocation } from "./installed.ts";
import { say } from "./readable.ts";

interface Options extends GatewayLocation {
  readonly discard?: true;
}

const HOLD_MS = 60_000;
const MOST_NAMED = 20;
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
  return new Command("journal")
    .description("the gateway's record of commands")
    .addCommand(reset)
    .addCommand(
      moveCommand("to-cluster", "move it from this box into etcd, for a gateway that becomes a cluster"),
    )
    .addCommand(
      moveCommand("from-cluster", "move it from etcd to this box, for a gateway that is to run alone again"),
    );
}

function moveCommand(name: "to-cluster" | "from-cluster", description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(configOption())
    .action(async ({ config: path }: Pick<GatewayLocation, "config">) => {
      try {
        // Loaded here and not at the top: other subcommands need no configuration.
        const { configurationOrExit } = await import("./configuration.ts");
        const config = await configurationOrExit(path);
        await asOwnerOf(config.gateway.dataDir, () => moveJournal(name, config));
      } catch (error) {
        fail(error, () => "");
      }
    });
}

async function moveJournal(name: "to-cluster" | "from-cluster", config: Config): Promise<void> {
  // Loaded here and not at the top: other subcommands do not need etcd.
  const { moveFromCluster, moveToCluster } = await import("../composition/journal-moves.ts");
  const lock = await lockFolder(config.gateway.dataDir, STOP_FIRST);
  const move = name === "to-cluster" ? moveToCluster : moveFromCluster;
  // The timers of the client keep no process alive.
  const hold = setInterval(() => {}, HOLD_MS);
  const moved = await move(config, systemClock)
    .catch((error: unknown) => {
      const isPlain = error instanceof Error && ["MoveRefused", "StoreFailed"].includes(error.name);
      throw isPlain ? new NotPossible(error.message) : error;
    })
    .finally(() => clearInterval(hold));
  await lock[Symbol.asyncDispose]();
  const what = moved === null ? "nothing: this box has no journal" : `${moved.commands} commands`;
  const slots = moved === null ? "" : `, and the numbers of ${moved.slots} slots`;
  say(`Moved ${what}${slots}.`);
  const foreign = moved?.foreign ?? [];
  for (const key of foreign.slice(0, MOST_NAMED))
    say(`No gateway has written the value of ${key}: it counts as none, and was left out.`);
  if (foreign.length > MOST_NAMED) say(`The same is true of ${foreign.length - MOST_NAMED} other keys.`);
}

/**
 * Tickets first. With an empty journal, an old ticket would be reported as never sent; without tickets, an
 * old journal does no harm.
 */
const STORES = ["slots", "journal"];

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
    say(`Nothing is lost in ${dataDir}, or no gateway has started since: nothing was changed.`);
  }
  for (const { folder, since, reason, keptAs } of losses) {
    const kept = keptAs === null ? "" : ` What there was is kept as ${keptAs}.`;
    say(`${folder}: its loss on ${since} is confirmed (${reason}).${kept}`);
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
    say(`${folder} begins empty.${kept}`);
  }
}
