import type { Readable } from "node:stream";
import { Command } from "commander";
import { hashPassword } from "../platform/password.ts";
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
    const password = await firstLine(process.stdin);
    const problem = newPasswordProblem(password);
    if (problem !== null) throw new Refused([`the password, the first line of standard input, ${problem}`]);
    return password;
  }
  // Standard output is for the hash alone.
  const terminal = openTerminal(process.stdin, process.stderr);
  try {
    return await askNewPassword(terminal, "Password");
  } finally {
    terminal.close();
  }
}

const MOST_BYTES = 10_000;

async function firstLine(input: Readable): Promise<string> {
  let text = "";
  input.setEncoding("utf8");
  for await (const chunk of input) {
    text += String(chunk);
    if (text.includes("\n") || text.length > MOST_BYTES) break;
  }
  return text.split(/\r?\n/, 1)[0] ?? "";
}
