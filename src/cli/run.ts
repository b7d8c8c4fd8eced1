import { lstatSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { DestinationStream } from "pino";
import type { Environment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import { secretsOf } from "../config/running-config.ts";
import { createCatalogue } from "../fleet/operations.ts";
import { systemClock } from "../platform/clock.ts";
import { watchClock, wrongClock } from "../platform/clock-watch.ts";
import type { Health } from "../platform/component.ts";
import { allowLongWays } from "../platform/connect-fault.ts";
import { bootIdOfMachine, createCrashFolder } from "../platform/crash/crash-folder.ts";
import { type CrashWatch, createCrashWatch } from "../platform/crash/crash-watch.ts";
import { refuseForeignFolder } from "../platform/folder.ts";
import { bindWithoutProperty, processHeap, returnHeap } from "../platform/heap-return.ts";
import { createLog } from "../platform/log.ts";
import { processorMsOfProcess, watchLoop } from "../platform/loop-watch.ts";
import { createWorkTimes } from "../platform/work-times.ts";
import { readBuild, version } from "../version.ts";
import { exitOnProblems, readConfiguration } from "./configuration.ts";
import { logConsole, logDestination, withoutSecrets } from "./console-log.ts";
import { exitCodes, fail } from "./exit.ts";
import { configOption } from "./installed.ts";
import { judgingHereMs } from "./machine-clock.ts";
import { logWarnings } from "./node-version.ts";
import { noticesOf } from "./service-notices.ts";
import { hangups, stopSignal } from "./stop-signal.ts";

const KEPT_LINES = 50;

const LONGEST_LINE = 2_000;

/** `fleetgate run`: the gateway alone, until SIGTERM. */
export function runCommand(): Command {
  return new Command("run")
    .description("run the gateway")
    .addOption(configOption())
    .action(async ({ config: path }: { config: string }) => {
      // First, so that a signal that comes while the gateway is loaded stops it too.
      const stop = stopSignal();
      const hangup = hangups();
      const reading = await readConfiguration(path, process.env, "warning");
      const config = exitOnProblems(path, reading);
      try {
        refuseForeignFolder(config.gateway.dataDir, "run the gateway as that user, not as root");
      } catch (error) {
        fail(error, () => "");
      }
      const apiSecrets = [config.fleet.credentials.secret];
      const destination = rememberLines(
        withoutSecrets(logDestination(process.env, config.log.format), apiSecrets),
      );
      const log = createLog(config.log.level, destination);
      logWarnings(log);
      const secrets = [...secretsOf(config)];
      logConsole(log, systemClock, secrets);
      const notices = noticesOf(process.env, systemClock, log, stop);
      allowLongWays(config.fleet.times.connectMs);
      bindWithoutProperty();
      returnHeap({ clock: systemClock, log, ...processHeap() }, stop);
      // Loaded here and not at the top: it takes longer to load than all that other subcommands need.
      const { createGateway } = await import("../composition/gateway.ts");
      const crashes = createCrashWatch(createCrashFolder(join(config.gateway.dataDir, "crash")), {
        version,
        bootId: bootIdOfMachine(),
        secrets,
        lastLines: destination.lastLines,
        health: () => gateway.health(),
        clock: systemClock,
        runningMs: () => gateway.runningMs(),
        log,
      });
      endOnCrash(crashes);
      const { builtAt } = readBuild();
      const work = createWorkTimes(systemClock);
      const { takeLongest } = work;
      const loop = watchLoop(
        { clock: systemClock, log, processorMs: processorMsOfProcess, takeLongest },
        stop,
      );
      const wall = watchClock(
        { clock: systemClock, log, wrong: (nowMs) => wrongClock(nowMs, builtAt) },
        stop,
      );
      const read = async () => {
        const loaded = await loadConfig(path, process.env, createCatalogue(), judgingHereMs());
        // A crash report must not contain the secrets of a later file either.
        const found = loaded.ok ? secretsOf(loaded.config) : [];
        if (loaded.ok) apiSecrets.push(loaded.config.fleet.credentials.secret);
        secrets.push(...found.filter((secret) => !secrets.includes(secret)));
        return loaded;
      };
      const trial = upgradeTrial(process.env);
      const gateway = createGateway(config, {
        isOnTrial: trial.isOn,
        clock: systemClock,
        random: Math.random,
        log,
        logLevels: log.levels,
        work,
        ownHealth: () => ({
          crashes: crashes.health(),
          loop: loop.health(),
          clock: wall.health(),
          ...trial.health(),
        }),
        configuration: { settings: reading.settings, read },
        builtAt,
        leadershipLost() {
          crashes.giveWay();
          process.exit(exitCodes.leadershipLost);
        },
      });
      // Whatever ends the process: what it has sent must not arrive when others act for it.
      process.once("exit", gateway.cut);
      hangup.listen(() => void gateway.reload("SIGHUP"));
      notices.watch(gateway);
      try {
        await gateway.run(stop, () => {
          log.info({ gateway: config.gateway.id }, "ready");
          notices.ready();
          loop.started();
          // Not before: until then another gateway may have the data folder.
          void crashes.begin(stop);
        });
        await crashes.end();
      } catch (error) {
        crashes.failed(error);
        fail(error, () => "");
      }
    });
}

/** Also for an unhandled rejection, which Node.js turns into an exception. */
function endOnCrash(crashes: CrashWatch): void {
  process.on("uncaughtException", (error) => {
    crashes.crashed(error);
    process.exit(exitCodes.failure);
  });
}

/** A destination of the log that keeps its last lines. */
interface RememberedLines extends DestinationStream {
  lastLines(): readonly string[];
}

function rememberLines(destination: DestinationStream): RememberedLines {
  const lines: string[] = [];
  return {
    write(line) {
      destination.write(line);
      lines.push(line.trimEnd().slice(0, LONGEST_LINE));
      if (lines.length > KEPT_LINES) lines.shift();
    },
    lastLines: () => lines,
  };
}

/**
 * A new version on trial: it sends only stops and reads (docs/internals/decisions.md, An upgrade is a trial
 * first).
 */
export interface UpgradeTrial {
  isOn(): boolean;
  /** A part that exists only during the trial. */
  health(): Readonly<Record<string, Health>>;
}

/** The package's start script names a link. The postinst removes it when the trial has succeeded. */
export function upgradeTrial({ FLEETGATE_TRIAL: link }: Environment): UpgradeTrial {
  let isOver = link === undefined;
  const isOn = () => {
    if (link === undefined || isOver) return false;
    isOver = lstatSync(link, { throwIfNoEntry: false }) === undefined;
    return !isOver;
  };
  const detail =
    "this version is on trial: only stops and reads are sent. If it stays so: dpkg --configure -a";
  return { isOn, health: () => (isOn() ? { upgrade: { state: "degraded", detail } } : {}) };
}
