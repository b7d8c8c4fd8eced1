import { Command } from "commander";
import { version } from "../version.ts";
import { callCommand } from "./call.ts";
import { checkCommand } from "./check.ts";
import { demoCommand } from "./demo.ts";
import { exportCommand } from "./export/command.ts";
import { holdCommand } from "./hold.ts";
import { initCommand } from "./init/command.ts";
import { journalCommand } from "./journal.ts";
import { passwdCommand } from "./passwd.ts";
import { runCommand } from "./run.ts";
import { simulateCommand } from "./simulate.ts";
import { watchCommand } from "./watch.ts";

/** `fleetgate` with all its subcommands. */
export function createProgram(): Command {
  return new Command("fleetgate")
    .description("Edge gateway between a robot fleet service and the plant: gRPC to MQTT and OPC UA.")
    .version(version)
    .showHelpAfterError("(add --help for the options)")
    .addCommand(initCommand())
    .addCommand(runCommand())
    .addCommand(checkCommand())
    .addCommand(callCommand())
    .addCommand(holdCommand())
    .addCommand(exportCommand())
    .addCommand(journalCommand())
    .addCommand(passwdCommand())
    .addCommand(simulateCommand())
    .addCommand(demoCommand())
    .addCommand(watchCommand());
}
