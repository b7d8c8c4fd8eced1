import { Command } from "commander";
import { bindWithoutProperty } from "../platform/bound-resources.ts";
import { systemClock } from "../platform/clock.ts";
import { processHeap, returnHeap } from "../platform/heap-return.ts";
import { createLog } from "../platform/log.ts";
import type { PortTaken } from "../platform/port-taken.ts";
import { configurationOrExit } from "./configuration.ts";
import { fail } from "./exit.ts";
import { logDestination } from "./log-destination.ts";
import { logWarnings } from "./node-warnings.ts";
import { noticesOf } from "./service-notices.ts";
import { ignoreHangup, stopSignal } from "./stop-signal.ts";

/** `fleetgate run`: the gateway alone, until SIGTERM. */
export function runCommand(): Command {
  return new Command("run")
    .description("run the gateway")
    .requiredOption("-c, --config <file>", "the configuration")
    .action(async ({ config: path }: { config: string }) => {
      // First, so that a signal that comes while the gateway is loaded stops it too.
      const stop = stopSignal();
      const hangup = ignoreHangup();
      const config = await configurationOrExit(path);
      const log = createLog(config.log.level, logDestination(process.env));
      logWarnings(log);
      void hangup.then(() => log.warn({}, "SIGHUP is ignored: to read the configuration anew, start again"));
      const notices = noticesOf(process.env, systemClock, log, stop);
      bindWithoutProperty();
      returnHeap({ clock: systemClock, log, ...processHeap() }, stop);
      // Loaded here and not at the top: it takes longer to load than all that other subcommands need.
      const { createGateway } = await import("../gateway.ts");
      const gateway = createGateway(config, {
        clock: systemClock,
        chance: Math.random,
        log,
        logLevels: log.levels,
      });
      notices.watch(gateway);
      try {
        await gateway.run(stop, () => {
          log.info({ gateway: config.gateway.id }, "ready");
          notices.ready();
        });
      } catch (error) {
        fail(error, portKey);
      }
    });
}

function portKey(taken: PortTaken): string {
  return `the key ${taken.listener}.listen.port of the configuration`;
}
