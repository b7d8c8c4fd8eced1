import { randomUUID } from "node:crypto";
import type { Config } from "../config/load.ts";
import { configHash, runningConfig } from "../config/running-config.ts";
import { sharedSections } from "../config/settings.ts";
import type { Sink } from "../contracts/link.ts";
import type { ReloadConfiguration } from "../contracts/reload.ts";
import type { Outbox } from "../delivery/outbox/outbox.ts";
import { noLaterThan } from "../platform/clock.ts";
import type { Component, Health } from "../platform/component.ts";
import { lockFolder } from "../platform/folder-lock.ts";
import { createLive, type Live } from "../platform/live.ts";
import { createReadiness, type Hang } from "../platform/liveness.ts";
import { logOutages } from "../platform/log-bounds.ts";
import { type KeptRunningTime, openRunningTime } from "../platform/running-time.ts";
import { refuseUnfinishedRestore } from "../platform/stores/store-marks.ts";
import { runSupervised } from "../platform/supervisor.ts";
import { createWorkTimes } from "../platform/work-times.ts";
import type { Cluster, ClusterParts } from "./cluster.ts";
import { addComponents, STOP_TIMEOUT_MS, stepsOf } from "./components.ts";
import { type Core, createCore } from "./core.ts";
import { createReload, createReloadGate, goneUsers } from "./reload.ts";
import { createRecordings, QUEUE, type Run, type Surroundings } from "./run.ts";
import { prepareStores, type Stores } from "./stores.ts";

/** The whole daemon but its command line. */
export interface Gateway {
  /**
   * Runs until the signal is aborted, then closes everything in order. `ready` is called when each listener
   * listens or was tried once, whether or not the fleet answers. Rejects with ComponentFailed.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
  /** Adds a northbound of a program that embeds the gateway. Call it before `run`. */
  attach(name: string, sink: Sink): void;
  /** Every part's health by name, now; empty until the stores are open. */
  health(): Readonly<Record<string, Health>>;
  /** For how long gateways have run on its data folder, in milliseconds; 0 until `run` is called. */
  runningMs(): number;
  /** The part that hangs, now; null while all answer. */
  hang(): Hang | null;
  /**
   * Reads the configuration again, and takes what is new in it, or nothing. During the start it waits until
   * each listener was tried.
   */
  readonly reload: ReloadConfiguration;
  /** Cuts the connections on which commands leave, at once. Only for a process that ends. */
  cut(): void;
}

const FOLDER_ADVICE = "end it, or give this gateway a gateway.dataDir of its own";

/** Makes the gateway of a configuration. Nothing is opened before `run`. */
export function createGateway(config: Config, surroundings: Surroundings): Gateway {
  const { clock, log, work, configuration } = surroundings;
  const sinks = new Map<string, Sink>();
  const live = createLive(config, (error) =>
    log.error({ err: error }, "what follows from the new configuration failed in one part"),
  );
  const running = runningConfig(live);
  const reloads = createReloadGate(live.pick(configHash), configuration?.settings ?? null);
  let isFleetUp = () => false;
  let open: Pick<Gateway, "health" | "hang" | "runningMs" | "cut"> | null = null;
  return {
    reload: reloads.request,
    health: () => open?.health() ?? {},
    runningMs: () => open?.runningMs() ?? 0,
    hang: () => open?.hang() ?? null,
    cut: () => open?.cut(),
    attach: (name, sink) => void sinks.set(name, sink),
    async run(signal, ready) {
      try {
        await inDataFolder(config.gateway.dataDir, surroundings, async (time) => {
          const run = await begin(time, signal);
          // All that writes to the tables has ended then.
          const { tables, mirror } = run.stores;
          await runLocked(run, time, signal, ready).finally(() =>
            noLaterThan(clock, STOP_TIMEOUT_MS, Promise.all([tables.close(), mirror?.close()]), null),
          );
        });
      } finally {
        reloads.end();
      }
    },
  };

  async function begin(time: KeptRunningTime, signal: AbortSignal): Promise<Run> {
    const ofCluster = {
      isFleetUp: () => isFleetUp(),
      configuration: () => sharedSections(reloads.settings() ?? new Map()),
    };
    const opened = await openRun(config, surroundings, time, ofCluster);
    time.begin(signal);
    return { ...opened, config: running, surroundings, work: work ?? createWorkTimes(clock), reloads };
  }

  async function runLocked(
    run: Run,
    time: KeptRunningTime,
    signal: AbortSignal,
    ready: () => void,
  ): Promise<void> {
    const components: Component[] = [];
    const core = createCore(run, components);
    const { dispatcher, commandLog, audit } = core.commands;
    isFleetUp = () => core.link.now().isUp;
    const { now: health, hang } = core.health;
    for (const [name, sink] of sinks) core.fanOut.attachSink(name, sink, QUEUE);
    open = { health, hang, runningMs: time.totalMs, cut: core.cut };
    let listening = () => {};
    const fleetBegins = new Promise<void>((resolve) => {
      listening = resolve;
      // A conveyor that turns alone waits for nothing.
      if ((dispatcher.health().figures?.stopsOwed ?? 0) > 0) resolve();
    });
    await addComponents(components, run, core, fleetBegins);
    followReloads(live, run, core);
    logOutages({ clock, log, health }, signal);
    const reload = createReload({
      source: configuration ?? null,
      live,
      hash: reloads.hash.now,
      refusals: reloads.refusals,
      audit,
      clock,
      log,
    });
    signal.addEventListener("abort", reload.close, { once: true });
    await commandLog.start();
    // Now that somebody will hear of it: what a predecessor left behind ends here.
    if (run.cluster === null) await dispatcher.start();
    else run.cluster.join(dispatcher);
    await runSupervised(stepsOf(components, config), signal, {
      clock,
      log,
      onReady() {
        listening();
        run.readiness.opened();
        reloads.open(reload);
        ready();
      },
      // Once nothing is open that could ask for an outcome. A drain that hangs is abandoned.
    }).finally(async () => {
      await noLaterThan(clock, STOP_TIMEOUT_MS, dispatcher.close(0), null);
      await run.cluster?.leave();
    });
  }
}

async function openRun(
  config: Config,
  surroundings: Surroundings,
  time: KeptRunningTime,
  ofCluster: Pick<ClusterParts, "isFleetUp" | "configuration">,
): Promise<Omit<Run, "config" | "surroundings" | "work" | "reloads">> {
  const { clock, log, isOnTrial } = surroundings;
  const stores = await prepareStores(config, { clock, time, log, isOnTrial });
  const sessionId = randomUUID();
  const outbox = await stores.openOutbox(sessionId);
  const sparkplugOutbox = await stores.openSparkplugOutbox(sessionId);
  const cluster = await clusterOf(config, surroundings, {
    ...{ sessionId, ...ofCluster, mirror: stores.mirror, tables: stores.tables },
    events: waitingEvents([outbox, sparkplugOutbox]),
  });
  return {
    sessionId,
    stores: cluster === null ? stores : { ...stores, tables: { ...stores.tables, ...cluster.tables } },
    cluster,
    outbox,
    sparkplugOutbox,
    recordings: createRecordings(config, { clock, time, log }),
    readiness: createReadiness(),
  };
}

/** The events of all outboxes. */
function waitingEvents(all: readonly (Outbox | null)[]): ClusterParts["events"] {
  const outboxes = all.filter((each) => each !== null);
  if (outboxes.length === 0) return null;
  return {
    get length() {
      return outboxes.reduce((sum, { length }) => sum + length, 0);
    },
    leaveBefore(monotonicMs) {
      for (const each of outboxes) each.leaveBefore(monotonicMs);
    },
  };
}

/** Its code is loaded only if there is a cluster. */
async function clusterOf(
  config: Config,
  { clock, random, log, leadershipLost }: Surroundings,
  {
    mirror,
    ...parts
  }: Pick<ClusterParts, "sessionId" | "isFleetUp" | "events" | "configuration" | "tables"> &
    Pick<Stores, "mirror">,
): Promise<Cluster | null> {
  if (config.cluster === null || mirror === null) return null;
  if (leadershipLost === undefined) throw new Error("a member of a cluster must be able to end its process");
  const { createCluster } = await import("./cluster.ts");
  const own = { disk: mirror, clock, random, log, lost: leadershipLost };
  return createCluster(config.cluster, config, { ...parts, ...own });
}

/** Runs a gateway in its data folder, which no other one has meanwhile, and counts how long it runs. */
async function inDataFolder(
  dataDir: string,
  { clock, log }: Surroundings,
  run: (time: KeptRunningTime) => Promise<void>,
): Promise<void> {
  // A gateway that lives must not have its unfinished commands ended by a second one on the same folder.
  const lock = await lockFolder(dataDir, FOLDER_ADVICE);
  try {
    refuseUnfinishedRestore(dataDir);
    const time = openRunningTime(dataDir, clock, log);
    try {
      await run(time);
    } finally {
      await time.end();
    }
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** What follows for commands and alarms when another configuration holds, after the northbounds. */
function followReloads(
  live: Live<Config>,
  { config, surroundings: { logLevels } }: Run,
  { state, stages: { stations, alarms }, pipeline, commands: { dispatcher } }: Core,
): void {
  config.log.level.onChange((_was, is) => logLevels?.set(null, is, "a reload"));
  live.onChange((was, is) => dispatcher.reviewRights(goneUsers(was, is)));
  config.stations.onChange(() => pipeline.enterAfter("stations", stations.review(state.snapshot())));
  config.alarms.battery.onChange(() => {
    alarms.reviewBatteries(state.snapshot());
    pipeline.enterAfter("attribution", { changes: [], events: [] });
  });
}
