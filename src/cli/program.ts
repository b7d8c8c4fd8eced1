import { Command } from "commander";
import { longVersion, version } from "../version.ts";
import { exitCodes } from "./exit.ts";
import { someText, someTexts } from "./option.ts";

/** In the order of the help. A command loads only what it needs: all of them together take half a second. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import("./init/command.ts")).initCommand(),
  run: async () => (await import("./run.ts")).runCommand(),
  check: async () => (await import("./check.ts")).checkCommand(),
  status: async () => (await import("./status/command.ts")).statusCommand(),
  robots: async () => (await import("./robots.ts")).robotsCommand(),
  tail: async () => (await import("./tail.ts")).tailCommand(),
  alarms: async () => (await import("./alarms.ts")).alarmsCommand(),
  "log-level": async () => (await import("./log-level.ts")).logLevelCommand(),
  call: async () => (await import("./call.ts")).callCommand(),
  hold: async () => (await import("./hold.ts")).holdCommand(),
  reload: async () => (await import("./reload.ts")).reloadCommand(),
  handover: async () => (await import("./leadership.ts")).handoverCommand(),
  "fence-confirm": async () => (await import("./leadership.ts")).fenceConfirmCommand(),
  record: async () => (await import("./record.ts")).recordCommand(),
  certs: async () => (await import("./certs/command.ts")).certsCommand(),
  export: async () => (await import("./export/command.ts")).exportCommand(),
  backup: async () => (await import("./backup/command.ts")).backupCommand(),
  restore: async () => (await import("./backup/command.ts")).restoreCommand(),
  journal: async () => (await import("./journal.ts")).journalCommand(),
  passwd: async () => (await import("./passwd.ts")).passwdCommand(),
  token: async () => (await import("./passwd.ts")).tokenCommand(),
  simulate: async () => (await import("./simulate.ts")).simulateCommand(),
  demo: async () => (await import("./demo.ts")).demoCommand(),
  watch: async () => (await import("./watch.ts")).watchCommand(),
};

/**
 * `fleetgate` with its subcommands.
 *
 * @param word the first word of the command line: if it names a subcommand, the program has this one only;
 *   if it asks for the version, none
 */
export async function createProgram(word?: string): Promise<Command> {
  const program = new Command("fleetgate")
    .description("Edge gateway between a robot fleet service and the plant: gRPC to MQTT and OPC UA.")
    // Commander prints it as soon as it has read the option, before those behind it.
    .version(process.argv.includes("--long") ? longVersion() : version)
    .option("--long", "with --version: the commit, the build, and how long this version is supported");
  for (const name of namesFor(word)) {
    const command = await commands[name]?.();
    if (command !== undefined) program.addCommand(command);
  }
  refuseMalformed(program);
  refuseEmpty(program);
  for (const each of program.commands) addExamples(each, each.name());
  return program;
}

/** The subcommands that a command line with this first word needs. */
function namesFor(word: string | undefined): readonly string[] {
  if (word === "--version" || word === "-V") return [];
  return word !== undefined && Object.hasOwn(commands, word) ? [word] : Object.keys(commands);
}

/** Each command needs this: an added command does not inherit settings. */
function refuseMalformed(command: Command): void {
  command
    .showHelpAfterError("(add --help for the options)")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCodes.ok : exitCodes.usage));
  for (const each of command.commands) refuseMalformed(each);
}

/** Options with a parser check their values themselves. */
function refuseEmpty(command: Command): void {
  for (const each of command.registeredArguments)
    if (each.parseArg === undefined) each.argParser(parserOf(each));
  for (const each of command.options)
    if ((each.required || each.optional) && each.parseArg === undefined) each.argParser(parserOf(each));
  for (const each of command.commands) refuseEmpty(each);
}

function parserOf({ variadic }: { readonly variadic: boolean }) {
  return (text: string, before: unknown): unknown =>
    variadic ? someTexts(text, before as readonly string[] | undefined) : someText(text);
}

function addExamples(command: Command, words: string): void {
  const example = examples[words];
  if (example !== undefined) command.addHelpText("after", `\nExample: ${example}`);
  for (const each of command.commands) addExamples(each, `${words} ${each.name()}`);
}

/** One command line for each subcommand without one in its own help, by the subcommand's words. */
const examples: Readonly<Record<string, string>> = {
  init: "sudo fleetgate init",
  run: "fleetgate run",
  check: "sudo fleetgate check --online",
  alarms: "sudo fleetgate alarms list",
  call: 'sudo fleetgate call GetOnlineRobots "{}"',
  hold: "sudo fleetgate hold cart-17",
  certs: "sudo fleetgate certs list",
  "certs list": "sudo fleetgate certs list",
  "certs show": "sudo fleetgate certs show THUMBPRINT",
  "certs approve": "sudo fleetgate certs approve THUMBPRINT",
  "certs reject": "sudo fleetgate certs reject THUMBPRINT",
  "certs request": "sudo fleetgate certs request --out plant1.csr",
  "certs import": "sudo fleetgate certs import plant1.pem",
  "certs renew": "sudo fleetgate certs renew",
  export: "fleetgate export opcua --help",
  journal: "sudo fleetgate journal reset",
  "journal reset": "sudo fleetgate journal reset",
  "journal to-cluster": "sudo fleetgate journal to-cluster",
  "journal from-cluster": "sudo fleetgate journal from-cluster",
  record: "sudo fleetgate record save",
  passwd: "sudo fleetgate passwd --out /etc/fleetgate/secrets/line2",
  token: "fleetgate token",
  simulate: "fleetgate simulate --robots 20 --lively",
  demo: "fleetgate demo --json",
  watch: "fleetgate watch opc.tcp://localhost:4840",
};
