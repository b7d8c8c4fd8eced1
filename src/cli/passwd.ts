import { randomBytes, randomInt } from "node:crypto";
import type { Readable } from "node:stream";
import { Command } from "commander";
import { firstLine, hasOuterSpace } from "../config/named-files.ts";
import { digestOf, hashPassword, isPasswordHash } from "../platform/password.ts";
import { fileProblem, plainText } from "../platform/plain-file.ts";
import { fail, Refused, refuse } from "./exit.ts";
import { secretAccess, writeNewFile } from "./new-file.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

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

/** Without characters that are easily confused on paper or on a panel. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const GROUPS = 4;
const LONGEST = 256;

/** A password that nobody guesses and a person can type: 79 random bits. */
export function inventPassword(): string {
  const group = () => Array.from({ length: GROUPS }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  return Array.from({ length: GROUPS }, group).join("-");
}

/** Why a text is no password, as the end of a sentence; null: it is one. It is never quoted. */
export function newPasswordProblem(password: string): string | null {
  if (password === "") return "is empty";
  if (password.length > LONGEST) return `is longer than ${LONGEST} characters`;
  if (hasOuterSpace(password)) return "begins or ends with a space";
  if (/\p{Cc}/u.test(password)) return "has characters that cannot be typed everywhere";
  return isPasswordHash(password) ? "is a hash already" : null;
}

/**
 * Asks for a password until it was typed twice in the same way.
 *
 * @param orEmpty the meaning of an empty answer, in brackets, which then gives ""; null: it is refused
 */
export async function askNewPassword(
  terminal: Terminal,
  question: string,
  orEmpty: string | null = null,
): Promise<string> {
  const hint = orEmpty === null ? "" : ` [${orEmpty}]`;
  for (;;) {
    const password = await terminal.askSecret(`${question}${hint}: `);
    if (password === "" && orEmpty !== null) return "";
    const problem = newPasswordProblem(password);
    if (problem !== null) terminal.say(`  the password ${problem}`);
    else if ((await terminal.askSecret("The same again: ")) === password) return password;
    else terminal.say("  these were two different passwords");
  }
}

const SECRET_BYTES = 32;

/** `fleetgate token`: a token for a program, and the hash by which the gateway knows it. */
export function tokenCommand(): Command {
  return new Command("token")
    .description("make a token for a program that uses the web listener, and print it with its hash")
    .addHelpText(
      "after",
      "\nGive the token to the program, which sends it as Authorization: Bearer TOKEN. The hash is for" +
        "\nweb.tokens.<name>.hash. The token is shown once: nobody can find it from the hash.",
    )
    .action(() => {
      const token = `fgt_${randomBytes(SECRET_BYTES).toString("base64url")}`;
      process.stdout.write(`token: ${token}\nhash:  sha256:${digestOf(token).toString("hex")}\n`);
    });
}
