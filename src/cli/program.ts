import { Command } from "commander";
import { version } from "../version.ts";
import { alarmsCommand } from "./alarms.ts";
import { callCommand } from "./call.ts";
import { certsCommand } from "./certs/command.ts";
import { checkCommand } from "./check.ts";
import { demoCommand } from "./demo.ts";
import { exitCodes } from "./exit.ts";
import { exportCommand } from "./export/command.ts";
import { holdCommand } from "./hold.ts";
import { initCommand } from "./init/command.ts";
import { journalCommand } from "./journal.ts";
import { logLevelCommand } from "./log-level.ts";
import { passwdCommand } from "./passwd.ts";
import { reloadCommand } from "./reload.ts";
import { runCommand } from "./run.ts";
import { simulateCommand } from "./simulate.ts";
import { statusCommand } from "./status/command.ts";
import { tailCommand } from "./tail/command.ts";
import { watchCommand } from "./watch.ts";

/** `fleetgate` with all its subcommands. */
export function createProgram(): Command {
  const program = new Command("fleetgate")
    .description("Edge gateway between a robot fleet service and the plant: gRPC to MQTT and OPC UA.")
    .version(version)
    .addCommand(initCommand())
    .addCommand(runCommand())
    .addCommand(checkCommand())
    .addCommand(statusCommand())
    .addCommand(tailCommand())
    .addCommand(alarmsCommand())
    .addCommand(logLevelCommand())
    .addCommand(callCommand())
    .addCommand(holdCommand())
    .addCommand(reloadCommand())
    .addCommand(certsCommand())
    .addCommand(exportCommand())
    .addCommand(journalCommand())
    .addCommand(passwdCommand())
    .addCommand(simulateCommand())
    .addCommand(demoCommand())
    .addCommand(watchCommand());
  refuseMalformed(program);
  return program;
}

/** A command that is added takes over no settings. */
function refuseMalformed(command: Command): void {
  command
    .showHelpAfterError("(add --help for the options)")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCodes.ok : exitCodes.usage));
  for (const each of command.commands) refuseMalformed(each);
}
