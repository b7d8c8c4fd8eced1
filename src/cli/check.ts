import { Command } from "commander";
import { configurationOrExit } from "./configuration.ts";

/** `fleetgate check`: what is wrong with a configuration, before the daemon starts. */
export function checkCommand(): Command {
  return new Command("check")
    .description("check a configuration and the files that it names")
    .requiredOption("-c, --config <file>", "the configuration")
    .action(async ({ config: path }: { config: string }) => {
      await configurationOrExit(path);
      process.stdout.write(`${path} is valid\n`);
    });
}
