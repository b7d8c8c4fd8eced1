import { randomUUID } from "node:crypto";
import type { AuditSink } from "./commands/audit/audit.ts";
import { auditTo } from "./commands/audit/audit.ts";
import { auditHealth } from "./commands/audit/audit-health.ts";
import type { AuditLines } from "./commands/audit/missing-records.ts";
import { createDispatcher, type Dispatcher } from "./commands/dispatcher.ts";
import { createIntake } from "./commands/intake/intake.ts";
import { createCommandLog, type KeptCommandLog } from "./commands/log/command-log.ts";
import { createAlarmWatch } from "./composition/alarm-watch.ts";
import { createDelivery, createLinkWatch, createStates } from "./composition/fleet-states.ts";
import { type GatewayParts, type NorthboundParts, QUEUE } from "./composition/northbound-parts.ts";
import { createNorthbounds } from "./composition/northbounds.ts";
import { createReadings } from "./composition/readings.ts";
import { createRecordings } from "./composition/recordings.ts";
import { createReload, type FindRefusals } from "./composition/reload.ts";
import { createReloadGate, goneUsers } from "./composition/reload-gate.ts";
import { closeJournal, commandIntake, opensFirst, stepsOf } from "./composition/run-order.ts";
import { createAudit, prepareStores, type Stores } from "./composition/stores.ts";
import { createTrends } from "./composition/trends.ts";
import { configHash } from "./config/config-hash.ts";
import type { Config, RunningConfig } from "./config/load.ts";
import { createOwnCertificates } from "./config/own-certificates.ts";
import { runningConfig } from "./config/running-config.ts";
import type { Batch, Sink } from "./contracts/link.ts";
import type { Readings } from "./contracts/metrics.ts";
import type { ReloadConfiguration } from "./contracts/reload.ts";
import type { UpdateSink } from "./contracts/update-sink.ts";
import { ofGateway } from "./domain/alarm.ts";
import type { FleetUpdate } from "./domain/update.ts";
import { createFleetSession, type FleetSession } from "./fleet/fleet-session.ts";
import { createCatalogue } from "./fleet/operations.ts";
import { stopRequest } from "./fleet/stop-request.ts";
import { createMeter, type PromMeter } from "./northbound/web/metrics/meter.ts";
import { createMetrics } from "./northbound/web/metrics/metrics.ts";
import type { Component, Health } from "./platform/component.ts";
import { lockFolder } from "./platform/folder-lock.ts";
import { createHealthHistory } from "./platform/health-history.ts";
import type { JournalStream } from "./platform/journal-stream.ts";
import type { LineFile } from "./platform/line-file.ts";
import { readLinesBack } from "./platform/lines-back.ts";
import { createLive, type Live } from "./platform/live.ts";
import { firstHang, type Hang } from "./platform/liveness.ts";
import type { Log } from "./platform/log.ts";
import { logOutages } from "./platform/outage-log.ts";
import { createProcessHealth } from "./platform/process-health.ts";
import { createReadiness } from "./platform/readiness.ts";
import { type KeptRunningTime, openRunningTime } from "./platform/running-time.ts";
import { refuseUnfinishedRestore } from "./platform/stores/unfinished-restore.ts";
import { runSupervised } from "./platform/supervisor.ts";
import { createWorkTimes } from "./platform/work-times.ts";
import { createClockAlarm } from "./state/clock-alarm.ts";
import { createQualityTicker } from "./state/quality-ticker.ts";
import { version } from "./version.ts";

/** The whole daemon but its command line. */
export interface Gateway {
  /**
   * Runs until the signal is aborted, then closes everything in order. `ready` is called when the listeners
   * are bound, whether or not the fleet answers. Rejects with ComponentFailed.
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
   * the listeners are bound.
   */
  readonly reload: ReloadConfiguration;
}

/**
 * How far a start reads back in the audit log for what it lacks: the last minute of commands, but for a flood
 * of them.
 */
const AUDIT_READ_BYTES = 16_000_000;
const processHealth = createProcessHealth();
const FOLDER_ADVICE = "end it, or give this gateway a gateway.dataDir of its own";

/** The parts that a run has made. */
interface Dependencies extends Omit<NorthboundParts, "metrics"> {
  /** What happens, on its way to the dispatcher and the northbounds. */
  readonly publish: (batch: Batch) => void;
  /** What was attributed, on its way to the northbounds. */
  readonly deliver: (batch: Batch) => void;
  readonly audit: LineFile;
  /** Where lines of the audit log are copied to; null: nowhere. */
  readonly journald: JournalStream | null;
  /** Notes when the state of a part changes. */
  readonly noteHealth: () => void;
  readonly meter: PromMeter;
  readonly fleetLink: Readings["link"];
  readonly commandLog: KeptCommandLog;
}

/** What the gateway reports while it runs. */
type Opened = Pick<Dependencies, "health" | "hang"> & { readonly time: KeptRunningTime };

/** What a run is made of. */
type RunParts = GatewayParts &
  Pick<
    NorthboundParts,
    "sessionId" | "outbox" | "configHash" | "refuseReload" | "reload" | "recordings" | "work"
  >;

/** Makes the gateway of a configuration. Nothing is opened before `run`. */
export function createGateway(config: Config, parts: GatewayParts): Gateway {
  const sinks = new Map<string, Sink>();
  const { live, running, hash } = inUse(config, parts.log);
  const reloads = createReloadGate(hash.now);
  let open: Opened | null = null;
  return {
    reload: reloads.request,
    health: () => open?.health() ?? {},
    runningMs: () => open?.time.totalMs() ?? 0,
    hang: () => open?.hang() ?? null,
    attach: (name, sink) => void sinks.set(name, sink),
    async run(signal, ready) {
      try {
        await inDataFolder(config.gateway.dataDir, parts, (time) => runLocked(time, signal, ready));
      } finally {
        reloads.end();
      }
    },
  };

  async function runLocked(time: KeptRunningTime, signal: AbortSignal, ready: () => void): Promise<void> {
    const components: Component[] = [];
    const stores = await prepareStores(config, { ...parts, time });
    const sessionId = randomUUID();
    const outbox = await stores.openOutbox(sessionId);
    time.begin(signal);
    const recordings = createRecordings(config, { ...parts, time });
    const refusals: FindRefusals[] = [];
    const { dependencies, fleet, auditSink } = build(
      running,
      {
        ...parts,
        sessionId,
        outbox,
        recordings,
        configHash: hash,
        refuseReload: (refusalsOf) => void refusals.push(refusalsOf),
        reload: reloads.request,
        work: parts.work ?? createWorkTimes(parts.clock),
      },
      components,
      stores,
      reloads.health,
    );
    for (const [name, sink] of sinks) dependencies.fanOut.attachSink(name, sink, QUEUE);
    open = { ...dependencies, time };
    let listening = () => {};
    const begin = new Promise<void>((resolve) => {
      listening = resolve;
      // A conveyor that turns alone waits for nothing.
      if ((dependencies.dispatcher.health().figures?.stopsOwed ?? 0) > 0) resolve();
    });
    // Closed in reverse: commands are refused and drained first, the session to the fleet and its events go
    // last.
    const { view, readiness, journald } = dependencies;
    if (recordings.recorder !== null) components.push(recordings.recorder);
    if (journald !== null) components.push(journald);
    if (outbox !== null) components.push(outbox);
    components.push(
      opensFirst(fleet, config, begin),
      createQualityTicker(dependencies),
      createAlarmWatch({ ...dependencies, fleet, state: view.alarmRegistry.state }),
    );
    const readings = createReadings({ ...dependencies, fleet });
    const metrics = createMetrics({ ...dependencies, version, readings });
    components.push(...(await createNorthbounds({ ...dependencies, metrics })));
    components.push(commandIntake(dependencies, config.drainMs));
    logOutages({ ...parts, health: dependencies.health }, signal);
    followReloads(live, dependencies);
    const reload = createReload({
      ...parts,
      source: parts.configuration ?? null,
      live,
      hash: hash.now,
      refusals: (next) => [
        ...dependencies.dispatcher.refusedStations(next.stations),
        ...refusals.flatMap((refusalsOf) => refusalsOf(next)),
      ],
      audit: auditSink,
    });
    signal.addEventListener("abort", reload.close, { once: true });
    await dependencies.commandLog.start();
    // Now that somebody will hear of it: what a predecessor left behind ends here.
    await dependencies.dispatcher.start();
    await runSupervised(stepsOf(components, config), signal, {
      ...parts,
      onReady() {
        listening();
        readiness.opened();
        reloads.open(reload);
        ready();
      },
    }).finally(() => closeJournal(dependencies));
  }
}

/** A configuration that a reload replaces, what the gateway is made of it, and its hash. */
function inUse(first: Config, log: Log) {
  const live = createLive(first, (error) =>
    log.error({ err: error }, "what follows from the new configuration failed in one part"),
  );
  return { live, running: runningConfig(live), hash: live.pick(configHash) };
}

/** Runs a gateway in its data folder, which no other one has meanwhile, and counts how long it runs. */
async function inDataFolder(
  dataDir: string,
  { clock, log }: Pick<GatewayParts, "clock" | "log">,
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

/**
 * Data: fleet → state → attribution → fan-out → northbounds. Commands: northbounds → intake → dispatcher →
 * fleet.
 */
function build(
  config: RunningConfig,
  parts: RunParts,
  components: readonly Component[],
  stores: Stores,
  configurationHealth: () => Health,
): { readonly dependencies: Dependencies; readonly fleet: FleetSession; readonly auditSink: AuditSink } {
  const { clock, log, sessionId, outbox, work } = parts;
  const catalogue = createCatalogue();
  const meter = createMeter(catalogue.keys());
  const { state, view } = createStates(config, parts, (robotId) => dispatcher.holds.holdState(robotId));
  const kept = createTrends(state, meter, clock);
  const link = createLinkWatch(view, clock);
  const { fanOut, deliver } = createDelivery(view, parts);

  const publish = (batch: Batch) => dispatcher.observe(view.withPlant(batch));
  function handle(update: FleetUpdate): void {
    if (update.kind === "link") {
      link.note(update.state === "up");
      dispatcher.fleetLink(update.state === "up");
    }
    const batch = state.apply(update);
    meter.received(update, batch.events);
    publish(batch);
  }

  const clockAlarm = clockAlarmOf(log, view, (aheadMs) => dispatcher.confirmClock(aheadMs));
  const fleet = createFleetSession(config.fleet, timedFleet(parts, handle, clockAlarm.note));
  const { auditFile, audit, journald } = createAudit(config, parts);
  const auditLines: AuditLines = (take) => readLinesBack(auditFile, AUDIT_READ_BYTES, take);
  const commandLog = createCommandLog({ auditLines, log });
  const commands = {
    rights: config.rights,
    catalogue,
    clock: work.clock("commands"),
    log: log.child({ part: "commands" }),
    audit: commandLog.audited(auditTo(audit, journald)),
    meter: kept.meter,
  };
  const dispatcher: Dispatcher = createDispatcher({
    ...commands,
    options: config.dispatcher,
    port: fleet.port,
    journal: stores.journal,
    areRecordsLost: stores.areRecordsLost,
    sessionId,
    robot: state.robot,
    stations: config.stations,
    stopRequest,
    deliver,
    alarmRegistry: view.alarmRegistry,
    onHold: (robotId) => fanOut.offer({ changes: view.holdsOf(robotId), events: [] }),
    eventsLostSinceMs: outbox?.commandsLostSinceMs ?? null,
    progress: commandLog,
    auditLines,
  });
  const intake = createIntake({
    ...commands,
    options: config.intake,
    execution: dispatcher,
  });
  const held = { ...parts, state, fanOut, audit, stores, configurationHealth };
  const queues = { name: "queues", hang: fanOut.hang };
  const history = createHealthHistory(clock, () => healthOf(components, held));
  const dependencies: Dependencies = {
    ...parts,
    config,
    catalogue,
    state,
    fanOut,
    publish,
    deliver,
    dispatcher,
    intake,
    audit,
    journald,
    stores,
    view,
    commandLog,
    trends: kept.trends,
    isFleetLinkUp: () => link.now().isUp,
    fleetLink: link.now,
    meter,
    readiness: createReadiness(),
    health: () => work.time("health", history.health),
    stateSinceMs: history.sinceMs,
    noteHealth: history.note,
    certificates: createOwnCertificates(config),
    hang: () => firstHang([...components, queues]),
    areValuesKept: () => firstHang([...components.filter(({ name }) => name === "quality"), queues]) === null,
  };
  return { dependencies, fleet: link.watch(fleet), auditSink: commands.audit };
}

function clockAlarmOf(
  log: Log,
  { alarmRegistry }: Pick<Dependencies["view"], "alarmRegistry">,
  confirm: (aheadMs: number) => void,
) {
  const state = (holds: boolean, text: string) =>
    alarmRegistry.state(ofGateway, "CLOCK_SKEW", { holds, text });
  return createClockAlarm(log, state, confirm);
}

/** What the session to the fleet needs; what follows from a message counts as its work. */
function timedFleet(parts: RunParts, handle: UpdateSink, onClockSkew: (skewMs: number) => void) {
  const { work, recordings } = parts;
  const sink: UpdateSink = (update) => work.time("fleet", () => handle(update));
  return { ...parts, clock: work.clock("fleet"), sink, onClockSkew, tap: recordings.tap };
}

/** What follows for commands and alarms when another configuration holds, after the northbounds. */
function followReloads(
  live: Live<Config>,
  {
    config,
    logLevels,
    dispatcher,
    view,
    fanOut,
  }: Pick<Dependencies, "config" | "logLevels" | "dispatcher" | "view" | "fanOut">,
): void {
  config.log.level.onChange((_was, is) => logLevels?.set(null, is, "a reload"));
  live.onChange((was, is) => dispatcher.reviewRights(goneUsers(was, is)));
  config.stations.onChange(() => fanOut.offer(view.reviewStations()));
  config.alarms.battery.onChange(() => fanOut.offer(view.evaluateBatteries()));
}

interface HealthParts extends Pick<Dependencies, "state" | "fanOut" | "audit" | "stores" | "ownHealth"> {
  readonly configurationHealth: () => Health;
}

function healthOf(
  components: readonly Component[],
  { state, fanOut, audit, stores, configurationHealth, ownHealth }: HealthParts,
): Readonly<Record<string, Health>> {
  return {
    ...Object.fromEntries(components.map((component) => [component.name, component.health()])),
    state: { state: "up", figures: state.figures() },
    queues: fanOut.health(),
    audit: auditHealth(audit),
    stores: stores.health(),
    disk: stores.diskHealth(),
    configuration: configurationHealth(),
    process: processHealth(),
    ...ownHealth?.(),
  };
}
