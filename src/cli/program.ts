import { Command } from "commander";
import { longVersion, version } from "../version.ts";
import { alarmsCommand } from "./alarms.ts";
import { backupCommand, restoreCommand } from "./backup/command.ts";
import { callCommand } from "./call.ts";
import { certsCommand } from "./certs/command.ts";
import { checkCommand } from "./check.ts";
import { demoCommand } from "./demo.ts";
import { examples } from "./examples.ts";
import { exitCodes } from "./exit.ts";
import { exportCommand } from "./export/command.ts";
import { fenceConfirmCommand } from "./fence-confirm.ts";
import { handoverCommand } from "./handover.ts";
import { holdCommand } from "./hold.ts";
import { initCommand } from "./init/command.ts";
import { journalCommand } from "./journal.ts";
import { logLevelCommand } from "./log-level.ts";
import { someText, someTexts } from "./option.ts";
import { passwdCommand, tokenCommand } from "./passwd.ts";
import { recordCommand } from "./record.ts";
import { reloadCommand } from "./reload.ts";
import { robotsCommand } from "./robots.ts";
import { runCommand } from "./run.ts";
import { simulateCommand } from "./simulate.ts";
import { statusCommand } from "./status/command.ts";
import { tailCommand } from "./tail/command.ts";
import { watchCommand } from "./watch.ts";

/** `fleetgate` with all its subcommands. */
export function createProgram(): Command {
  const program = new Command("fleetgate")
    .description("Edge gateway between a robot fleet service and the plant: gRPC to MQTT and OPC UA.")
    // Commander prints it as soon as it has read the option, before those behind it.
    .version(process.argv.includes("--long") ? longVersion() : version)
    .option("--long", "with --version: the commit, the build, and how long this version is supported")
    .addCommand(initCommand())
    .addCommand(runCommand())
    .addCommand(checkCommand())
    .addCommand(statusCommand())
    .addCommand(robotsCommand())
    .addCommand(tailCommand())
    .addCommand(alarmsCommand())
    .addCommand(logLevelCommand())
    .addCommand(callCommand())
    .addCommand(holdCommand())
    .addCommand(reloadCommand())
    .addCommand(handoverCommand())
    .addCommand(fenceConfirmCommand())
    .addCommand(recordCommand())
    .addCommand(certsCommand())
    .addCommand(exportCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(journalCommand())
    .addCommand(passwdCommand())
    .addCommand(tokenCommand())
    .addCommand(simulateCommand())
    .addCommand(demoCommand())
    .addCommand(watchCommand());
  refuseMalformed(program);
  refuseEmpty(program);
  for (const each of program.commands) addExamples(each, each.name());
  return program;
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
