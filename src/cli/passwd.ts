import type { Readable } from "node:stream";
import { Command } from "commander";
import { fileProblem, firstLine } from "../config/named-files.ts";
import { hashPassword } from "../platform/password.ts";
import { plainText } from "../platform/plain-file.ts";
import { fail, Refused, refuse } from "./exit.ts";
import { secretAccess, writeNewFile } from "./new-file.ts";
import { askNewPassword, newPasswordProblem } from "./new-password.ts";
import { openTerminal } from "./terminal.ts";

/** `fleetgate passwd`: the hash of a password, for the file of a user. */
export function passwdCommand(): Command {
  return new Command("passwd")
    .description("ask for a password, and print its hash for the password file of a user")
    .option("--out <file>", "write it to a new file, which others cannot read, instead of printing it")
    .addHelpText(
      "after",
      "\nFor opcua.users.<name>.password, mqtt.users.<name>.password and web.users.<name>.password. Without a" +
        "\nterminal the password is the first line of standard input.",
    )
    .action(async ({ out }: { out?: string }) => {
      try {
        const line = `${await hashPassword(await readPassword())}\n`;
        if (out === undefined) process.stdout.write(line);
        else await writeNewFile(out, line, secretAccess());
      } catch (error) {
        if (error instanceof Refused) refuse(error);
        fail(error, () => "");
      }
    });
}

async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const password = firstLine(await inputText(process.stdin));
    const problem = newPasswordProblem(password);
    if (problem !== null) throw new Refused([`the password, the first line of standard input, ${problem}`]);
    return password;
  }
  // Standard output is only for the hash.
  const terminal = openTerminal(process.stdin, process.stderr);
  try {
    return await askNewPassword(terminal, "Password");
  } finally {
    terminal.close();
  }
}

const MOST_BYTES = 10_000;

/** Reads up to the end of the first line. Rejects with Refused if it is no text. */
async function inputText(input: Readable): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of input) {
    bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    if (bytes.includes("\n") || bytes.length > MOST_BYTES) break;
  }
  try {
    return plainText(bytes);
  } catch (error) {
    throw new Refused([`standard input ${fileProblem(error)}`]);
  }
}
