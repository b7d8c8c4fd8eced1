import { readFileSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { fileProblem } from "../../platform/plain-file.ts";
import { syncFolder } from "../../platform/stores/store-marks.ts";
import { fail, NotPossible } from "../exit.ts";
import { configOption } from "../installed.ts";
import { isThere, whyNotWritten } from "../new-file.ts";
import { complain, say } from "../readable.ts";
import { unitEnvironment } from "../unit-environment.ts";
import { packBackup, readGateway, unpackBackup } from "./archive.ts";
import { refuseForeign } from "./content.ts";
import { type RestoreOptions, restoreBackup } from "./restore.ts";

const OWNER_ONLY = 0o600;

/** `fleetgate backup`: all that makes another machine this gateway, in one file. */
export function backupCommand(): Command {
  return new Command("backup")
    .description("write all that makes another machine this gateway into one file; the gateway may run")
    .argument("<file>", "the new file, or a folder for it")
    .addOption(configOption())
    .addHelpText(
      "after",
      "\nThe file holds secrets: keep it as you keep passwords. It holds no journal: what was sent is not in it.\n" +
        "\nExit code 0: written. 1: nothing was written. 78: the configuration has mistakes.\n" +
        "\nExample: sudo fleetgate backup /root/fleetgate-backup.tar.gz",
    )
    .action(async (target: string, { config }: { readonly config: string }) => {
      try {
        await backup(target, config);
      } catch (error) {
        fail(error, () => "");
      }
    });
}

interface RestoreFlags {
  readonly keepJournal?: boolean;
  readonly elsewhere?: boolean;
}

/** `fleetgate restore`: makes this machine the gateway of a backup. */
export function restoreCommand(): Command {
  return new Command("restore")
    .description("put a backup in place, while the gateway is stopped")
    .argument("<file>", "what fleetgate backup has written")
    .option("--elsewhere", "as root, also outside /etc/fleetgate and /var/lib/fleetgate: you know the backup")
    .option("--keep-journal", "this machine has the gateway's journal, and no other one has sent since")
    .addHelpText(
      "after",
      "\nAfterwards the gateway passes only stops and reads until fleetgate journal reset, for nobody knows\n" +
        "what was sent since the backup. --keep-journal: to take back a change on the same machine.\n" +
        "\nExit code 0: restored. 1: nothing was changed. 65: a newer program has written the backup.\n" +
        "\nExample: sudo fleetgate restore /root/fleetgate-backup.tar.gz",
    )
    .action(async (file: string, { keepJournal = false, elsewhere = false }: RestoreFlags) => {
      try {
        await restore(file, { keepsJournal: keepJournal, isElsewhere: elsewhere, nowMs: Date.now() });
      } catch (error) {
        fail(error, () => "");
      }
    });
}

async function backup(target: string, config: string): Promise<void> {
  const { env } = unitEnvironment(process.env, process.getuid?.() ?? null, config);
  const found = await readGateway(config, env, Date.now());
  await refuseForeign(found, env, "nothing was written");
  const { gatewayId, madeAt } = found.facts;
  const isFolder = statSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  const name = `fleetgate-${gatewayId}-${madeAt.replaceAll(":", "-")}.tar.gz`;
  const path = resolve(isFolder ? join(target, name) : target);
  await writeWhole(path, await packBackup(found));
  const files = found.entries.filter(({ kind }) => kind === "file");
  for (const each of files) say(`/${each.name}`);
  if (found.tablesProblem !== null)
    complain(`robots that have had nodes, counters and alarms are not in it: ${found.tablesProblem}`);
  say(`${path}: ${files.length} files of gateway ${gatewayId}. It holds secrets.`);
}

/** A crash leaves no file of that name that is not whole. */
async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  const part = `${path}.part`;
  try {
    if (await isThere(path)) throw Object.assign(new Error(), { code: "EEXIST" });
    await rm(part, { force: true });
    const file = await open(part, "wx", OWNER_ONLY);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
    syncFolder(dirname(path));
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw new NotPossible(`${path} ${whyNotWritten(error)}`);
  }
}

async function restore(path: string, options: RestoreOptions): Promise<void> {
  const read = await unpackBackup(path, bytesOf(path));
  const { written, keptAs } = await restoreBackup(read, options);
  const { gatewayId, dataDir, madeAt } = read.facts;
  for (const each of written) say(each);
  for (const each of keptAs) say(`What there was is kept as ${each}.`);
  say(`Gateway ${gatewayId} is as it was on ${madeAt}.`);
  if (options.keepsJournal) return;
  process.stdout.write(
    "It passes only stops and reads until you confirm that what was sent since is not known. Look at the\n" +
      `robots, stop programs that repeat old commands, then: fleetgate journal reset --data ${dataDir}\n`,
  );
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new NotPossible(`${path} ${fileProblem(error)}`);
  }
}
