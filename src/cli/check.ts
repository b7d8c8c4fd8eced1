import { Command } from "commander";
import { createCatalogue } from "../fleet/operations.ts";
import { checkReport } from "./check-report.ts";
import { configurationOrExit } from "./configuration.ts";

/** `fleetgate check`: reports the mistakes of a configuration, or what it means. */
export function checkCommand(): Command {
  return new Command("check")
    .description("check a configuration and the files that it names, and say what it means")
    .requiredOption("-c, --config <file>", "the configuration")
    .action(async ({ config: path }: { config: string }) => {
      const config = await configurationOrExit(path, "error");
      const report = checkReport(config, createCatalogue());
      process.stdout.write(`${path} is valid: gateway ${config.gateway.id}\n${report}\n`);
    });
}
