import { randomInt } from "node:crypto";
import { hasOuterSpace } from "../config/named-files.ts";
import { isPasswordHash } from "../platform/password.ts";
import type { Terminal } from "./terminal.ts";

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
