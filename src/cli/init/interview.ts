import { firstLine } from "../../config/named-files.ts";
import { hashPassword, isPasswordHash } from "../../platform/password.ts";
import { Refused } from "../exit.ts";
import { askNewPassword, inventPassword } from "../passwd.ts";
import type { Terminal } from "../terminal.ts";
import { type AnswerName, type Given, type Question, questions } from "./questions.ts";
import { passwordFileProblem, readSource } from "./source-file.ts";

/** The files of passwords that flags name. */
export interface PasswordFiles {
  readonly mqttPasswordFile?: string;
  readonly opcuaPasswordFile?: string;
  readonly webPasswordFile?: string;
}

/** The content of a password file. */
export interface KeptPassword {
  readonly kept: string;
  /** An invented password; null: the user knows it. */
  readonly invented: string | null;
}

/** All inputs of the configuration. */
export interface Interview {
  readonly given: Given;
  readonly mqttPassword: KeptPassword | null;
  readonly opcuaPassword: KeptPassword | null;
  readonly webPassword: KeptPassword | null;
}

/** Why a valid answer is not possible here; null: it is. */
export type Obstacle = (name: AnswerName, answer: string) => Promise<string | null>;

/**
 * Completes the answers: by questions if a needed one is missing, otherwise by defaults.
 *
 * @param openTerminal null: nobody can be asked
 * @throws Refused with everything that is missing or wrong
 */
export async function interview(
  flags: Given,
  files: PasswordFiles,
  openTerminal: (() => Terminal) | null,
  obstacle: Obstacle = async () => null,
): Promise<Interview> {
  await refuseWrongFlags(flags, files, obstacle);
  const missing = whatIsMissing(flags, files);
  if (missing.length > 0 && openTerminal === null) throw new Refused(missing);
  const terminal = missing.length > 0 ? (openTerminal?.() ?? null) : null;
  try {
    const given = await completed(flags, terminal, obstacle);
    const isEmbedded = given.mqtt === "embedded";
    const ofUser = async (kind: string, user = "", file: string | undefined) =>
      user === "" ? null : await userPassword(terminal, file, `Password of ${kind} user ${user}`);
    return {
      given,
      mqttPassword: isEmbedded
        ? await ofUser("MQTT", given.mqttUser, files.mqttPasswordFile)
        : await brokerPassword(terminal, files.mqttPasswordFile, given),
      opcuaPassword: await ofUser("OPC UA", given.opcuaUser, files.opcuaPasswordFile),
      webPassword: await ofUser("console", given.webUser, files.webPasswordFile),
    };
  } finally {
    terminal?.close();
  }
}

const NO_USE = "is of no use with the other answers; leave it out";

/** Before the first question, so that nobody answers ten of them to be refused at the end. */
async function refuseWrongFlags(flags: Given, files: PasswordFiles, obstacle: Obstacle): Promise<void> {
  const problems: string[] = [];
  const given = withUsual(flags);
  const isTwice = Boolean(flags.robots) && flags.locations !== undefined;
  if (isTwice) problems.push("--robots and --locations: give one of the two");
  for (const question of questions) {
    const answer = flags[question.name];
    if (answer === undefined) continue;
    const problem = (await question.problem(answer, given)) ?? (await obstacle(question.name, answer));
    if (problem !== null) problems.push(`${question.flag}: ${problem}`);
    else if (isTwice && (question.name === "robots" || question.name === "locations")) continue;
    else if (!question.applies(given) && answer !== "") problems.push(`${question.flag}: ${NO_USE}`);
  }
  const passwords = [
    ["mqtt", files.mqttPasswordFile, given.mqttUser, given.mqtt === "embedded"],
    ["opcua", files.opcuaPasswordFile, given.opcuaUser, true],
    ["web", files.webPasswordFile, given.webUser, true],
  ] as const;
  for (const [protocol, file, user, mayBeHash] of passwords) {
    if (file === undefined) continue;
    const problem = (await passwordFileProblem(file, mayBeHash)) ?? (user ? null : NO_USE);
    if (problem !== null) problems.push(`--${protocol}-password-file: ${problem}`);
  }
  if (problems.length > 0) throw new Refused(problems);
}

/** The missing flags without which somebody must be asked. */
function whatIsMissing(flags: Given, files: PasswordFiles): readonly string[] {
  const given = withUsual(flags);
  const missing = questions
    .filter(({ name, applies }) => given[name] === undefined && applies(given))
    .map(({ name, flag, text }) =>
      name === "locations"
        ? "--robots or --locations is missing: the robots that the gateway is for"
        : `${flag} is missing: ${text}`,
    );
  const needsPassword = given.mqtt !== "embedded" && (given.mqttUser ?? "") !== "";
  return needsPassword && files.mqttPasswordFile === undefined
    ? [...missing, `--mqtt-password-file is missing: File with the password of ${given.mqttUser}`]
    : missing;
}

/** The answers, with defaults for missing ones. */
function withUsual(flags: Given): Given {
  let given: Given = flags;
  for (const question of questions) {
    if (given[question.name] !== undefined || !question.applies(given)) continue;
    const usual = question.usual(given);
    if (usual !== null) given = { ...given, [question.name]: usual };
  }
  return given;
}

async function completed(flags: Given, terminal: Terminal | null, obstacle: Obstacle): Promise<Given> {
  if (terminal === null) return withUsual(flags);
  let given: Given = flags;
  for (const question of questions) {
    if (given[question.name] !== undefined || !question.applies(given)) continue;
    given = { ...given, [question.name]: await ask(terminal, question, given, obstacle) };
  }
  return given;
}

async function ask(
  terminal: Terminal,
  question: Question,
  given: Given,
  obstacle: Obstacle,
): Promise<string> {
  const usual = question.usual(given);
  const hint = usual === null || usual === "" ? "" : ` [${usual}]`;
  for (;;) {
    const answer = (await terminal.ask(`${question.text}${hint}: `)) || (usual ?? "");
    const problem = (await question.problem(answer, given)) ?? (await obstacle(question.name, answer));
    if (problem === null) return answer;
    terminal.say(`  ${problem}`);
  }
}

/** The password of a user of the gateway: kept as a hash. */
async function userPassword(
  terminal: Terminal | null,
  file: string | undefined,
  question: string,
): Promise<KeptPassword> {
  if (file !== undefined) {
    const text = firstLine(await readSource(file));
    return { kept: isPasswordHash(text) ? text : await hashPassword(text), invented: null };
  }
  const typed = terminal === null ? "" : await askNewPassword(terminal, question, "empty: one is made");
  if (typed !== "") return { kept: await hashPassword(typed), invented: null };
  const invented = inventPassword();
  return { kept: await hashPassword(invented), invented };
}

/**
 * The password of the gateway's own user at the plant's broker, which needs it in plain text; null: it has no
 * user.
 */
async function brokerPassword(
  terminal: Terminal | null,
  file: string | undefined,
  { mqttUser = "" }: Given,
): Promise<KeptPassword | null> {
  if (mqttUser === "") return null;
  if (file !== undefined) return { kept: firstLine(await readSource(file)), invented: null };
  if (terminal === null) throw new Refused(["--mqtt-password-file is missing"]);
  const question = `Password of ${mqttUser} at the broker`;
  return { kept: await askNewPassword(terminal, question), invented: null };
}
