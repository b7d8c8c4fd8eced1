import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { fileProblem } from "../platform/plain-file.ts";
import { exitWith } from "./control-client.ts";
import { exitCodes, NotPossible } from "./exit.ts";
import { endWithReader, stopSignal } from "./stop-signal.ts";
import { openTerminal } from "./terminal.ts";

interface Options {
  readonly user?: string;
  readonly passwordFile?: string;
}

const help = `
The connection is encrypted with --user, or if the server takes no other. It then needs a certificate of this
program, which watch makes once and the gateway must approve: watch says how.`;

/** `fleetgate watch`: follows OPC UA tags as a PLC would see them. */
export function watchCommand(): Command {
  return new Command("watch")
    .description("follow OPC UA tags: every tag under a folder, a line for each change")
    .argument("[url]", "opc.tcp://host:port of the server", "opc.tcp://localhost:4840")
    .argument("[folder]", "a tag or a folder of tags, as Robots.cart-01.Mission", "Robots")
    .option("--user <name>", "a user of opcua.users; its password is asked for")
    .option("--password-file <file>", "its password, instead of the question")
    .addHelpText("after", help)
    .action((url: string, folder: string, options: Options) =>
      exitWith(async () => {
        endWithReader();
        const user = await userOf(options);
        const { watchTags } = await import("./tag-watch.ts");
        await watchTags({ url, folder, user, keyFolder: keyFolder() }, stopSignal());
        return exitCodes.ok;
      }),
    );
}

async function userOf({ user: name, passwordFile }: Options) {
  if (name === undefined) return null;
  if (passwordFile !== undefined) {
    const text = await readFile(passwordFile, "utf8").catch((error: unknown) => {
      throw new NotPossible(`${passwordFile} ${fileProblem(error)}`);
    });
    return { name, password: text.replace(/\r?\n$/, "") };
  }
  const terminal = openTerminal(process.stdin, process.stderr);
  try {
    return { name, password: await terminal.askSecret(`Password of ${name}: `) };
  } finally {
    terminal.close();
  }
}

/** The folder of this program's own key and certificate. */
function keyFolder(): string {
  return join(process.env.XDG_CONFIG_HOME ?? join(homedir(), ".config"), "fleetgate", "watch");
}
