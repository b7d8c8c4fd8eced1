import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createAlarmWatch } from "./alarm-watch.ts";
import { type AuditSink, auditTo } from "./commands/audit/audit.ts";
import { auditHealth } from "./commands/audit/audit-health.ts";
import { createDispatcher, type Dispatcher } from "./commands/dispatcher.ts";
import { createIntake } from "./commands/intake/intake.ts";
import { rightsOf } from "./commands/rights.ts";
import { createLiveConfig } from "./config/live-config.ts";
import type { Config } from "./config/load.ts";
import { createOwnCertificates } from "./config/own-certificates.ts";
import type { Holds } from "./contracts/holds.ts";
import type { Batch, Sink } from "./contracts/link.ts";
import type { Readings } from "./contracts/metrics.ts";
import type { ReloadConfiguration } from "./contracts/reload.ts";
import { createFanOut } from "./delivery/fan-out.ts";
import { ofGateway } from "./domain/alarm.ts";
import type { FleetUpdate } from "./domain/update.ts";
import { createFleetSession, type FleetSession } from "./fleet/fleet-session.ts";
import { createCatalogue } from "./fleet/operations.ts";
import { leavingMs } from "./fleet/options.ts";
import { stopRequest } from "./fleet/stop-request.ts";
import { createMeter, type PromMeter } from "./northbound/web/metrics/meter.ts";
import { createMetrics } from "./northbound/web/metrics/metrics.ts";
import { createNorthbounds, type GatewayParts, type NorthboundParts, QUEUE } from "./northbounds.ts";
import { aborted, type Component, type Health } from "./platform/component.ts";
import { lockFolder } from "./platform/folder-lock.ts";
import { createHealthHistory } from "./platform/health-history.ts";
import { createLineFile, type LineFile } from "./platform/line-file.ts";
import { readLinesBack } from "./platform/lines-back.ts";
import { firstHang, type Hang } from "./platform/liveness.ts";
import { mergedHealth } from "./platform/merged-health.ts";
import { logOutages } from "./platform/outage-log.ts";
import { createProcessHealth } from "./platform/process-health.ts";
import { createReadiness } from "./platform/readiness.ts";
import { runSupervised } from "./platform/supervisor.ts";
import { createReadings } from "./readings.ts";
import { type Consequence, createReload } from "./reload.ts";
import { createReloadGate, goneUsers, layoutRefusals } from "./reload-gate.ts";
import { createClockAlarm } from "./state/clock-alarm.ts";
import { createFleetState, type FleetState } from "./state/fleet-state.ts";
import { createQualityTicker } from "./state/quality-ticker.ts";
import { createShownState, type ShownState } from "./state/shown-state.ts";
import { prepareStores, type Stores } from "./stores.ts";
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
  /** The part that hangs, now; null while all answer. */
  hang(): Hang | null;
  /**
   * Reads the configuration again, and takes what is new in it, or nothing. During the start it waits until
   * the listeners are bound.
   */
  readonly reload: ReloadConfiguration;
}

const MAX_ROBOTS = 10_000;
const MAX_TASK_CHAINS = 10_000;
const START_TIMEOUT_MS = 60_000;
/** A part that hangs while it closes is left behind, so that the others can close too. */
const STOP_TIMEOUT_MS = 1_500;
/**
 * How far a start reads back in the audit log for what it lacks: the last minute of commands, but for a flood
 * of them.
 */
const AUDIT_READ_BYTES = 16_000_000;
const LINK_DOWN = "the gateway has no session to the fleet service";
const COMMANDS = "commands";
const processHealth = createProcessHealth();
const FLEET = "fleet";
const FOLDER_ADVICE = "end it, or give this gateway a gateway.dataDir of its own";

/** The parts that a run has made. */
interface Dependencies extends Omit<NorthboundParts, "metrics"> {
  /** What happens, on its way to the dispatcher and the northbounds. */
  readonly tell: (batch: Batch) => void;
  /** What was attributed, on its way to the northbounds. */
  readonly deliver: (batch: Batch) => void;
  readonly audit: LineFile;
  /** Notes when the state of a part changes. */
  readonly noteHealth: () => void;
  readonly meter: PromMeter;
  readonly fleetLink: Readings["link"];
}

/** What a run is made of. */
type RunParts = GatewayParts &
  Pick<NorthboundParts, "sessionId" | "outbox" | "configHash" | "onReload" | "reload">;

/** Makes the gateway of a configuration. Nothing is opened before `run`. */
export function createGateway(config: Config, parts: GatewayParts): Gateway {
  const sinks = new Map<string, Sink>();
  const live = createLiveConfig(config);
  const reloads = createReloadGate(live);
  let open: Pick<Dependencies, "health" | "hang"> | null = null;
  return {
    reload: reloads.request,
    health: () => open?.health() ?? {},
    hang: () => open?.hang() ?? null,
    attach: (name, sink) => void sinks.set(name, sink),
    async run(signal, ready) {
      // A gateway that lives must not have its unfinished commands ended by a second one on the same folder.
      const lock = await lockFolder(config.gateway.dataDir, FOLDER_ADVICE);
      try {
        await runLocked(signal, ready);
      } finally {
        reloads.end();
        await lock[Symbol.asyncDispose]();
      }
    },
  };

  async function runLocked(signal: AbortSignal, ready: () => void): Promise<void> {
    const components: Component[] = [];
    const stores = await prepareStores(config, parts.clock.nowMs, parts.log);
    const sessionId = randomUUID();
    const outbox = await stores.openOutbox({ ...parts, sessionId });
    const consequences: Consequence[] = [];
    const { dependencies, fleet, auditSink } = build(
      live.config,
      {
        ...parts,
        sessionId,
        outbox,
        configHash: live.hash,
        onReload: (follow) => void consequences.push(follow),
        reload: reloads.request,
      },
      components,
      stores,
      reloads.health,
    );
    for (const [name, sink] of sinks) dependencies.fanOut.attachSink(name, sink, QUEUE);
    open = dependencies;
    let listening = () => {};
    const begin = new Promise<void>((resolve) => {
      listening = resolve;
    });
    // Closed in reverse: commands are refused and drained first, the session to the fleet and its events go
    // last.
    const { shown, readiness } = dependencies;
    if (outbox !== null) components.push(outbox);
    components.push(
      opensFirst(fleet, config, begin),
      createQualityTicker(dependencies),
      createAlarmWatch({ ...dependencies, fleet, state: shown.alarmBook.state }),
    );
    const readings = createReadings({ ...dependencies, fleet });
    const metrics = createMetrics({ ...dependencies, version, readings });
    components.push(...(await createNorthbounds({ ...dependencies, metrics })));
    components.push(commandIntake(dependencies, config.drainMs));
    logOutages({ ...parts, health: dependencies.health }, signal);
    consequences.push(...coreConsequences(dependencies));
    const reload = createReload({
      ...parts,
      source: parts.configuration ?? null,
      live,
      refusals: (next) => layoutRefusals(config, next),
      consequences,
      audit: auditSink,
    });
    signal.addEventListener("abort", reload.close, { once: true });
    // Now that somebody will hear of it: what a predecessor left behind ends here.
    await dependencies.dispatcher.start();
    const steps = components.map((component) => ({
      component,
      startTimeoutMs: START_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS + lastWordsMs(component.name, config),
    }));
    await runSupervised(steps, signal, {
      ...parts,
      onReady() {
        listening();
        readiness.opened();
        reloads.open(reload);
        ready();
      },
    });
  }
}

/** What a part may need besides to bring to an end what it has begun. */
function lastWordsMs(name: string, { drainMs, fleet }: Config): number {
  if (name === COMMANDS) return drainMs;
  return name === FLEET ? leavingMs(fleet.events) : 0;
}

/**
 * Data: fleet → state → attribution → fan-out → northbounds. Commands: northbounds → intake → dispatcher →
 * fleet.
 */
function build(
  config: Config,
  parts: RunParts,
  components: readonly Component[],
  stores: Stores,
  configurationHealth: () => Health,
): { readonly dependencies: Dependencies; readonly fleet: FleetSession; readonly auditSink: AuditSink } {
  const { clock, log, sessionId, outbox } = parts;
  const catalogue = createCatalogue();
  const meter = createMeter(catalogue.keys());
  const { state, shown } = createStates(config, parts, (robotId) => dispatcher.holds.holdState(robotId));
  const sayLink = (isUp: boolean) =>
    shown.alarmBook.state(ofGateway, "FLEET_LINK_DOWN", { holds: !isUp, text: LINK_DOWN });
  sayLink(false);
  const fanOut = createFanOut({ state: shown, clock, log });
  const deliver = (batch: Batch) => fanOut.offer(shown.withAlarms(batch));
  let link = { isUp: false, changedAtMs: clock.nowMs() };

  const tell = (batch: Batch) => dispatcher.observe(shown.withPlant(batch));
  function hear(update: FleetUpdate): void {
    if (update.kind === "link") {
      const isUp = update.state === "up";
      if (isUp !== link.isUp) link = { isUp, changedAtMs: clock.nowMs() };
      dispatcher.fleetLink(isUp);
      sayLink(isUp);
    }
    const batch = state.apply(update);
    meter.heard(update, batch.events);
    tell(batch);
  }

  const clockAlarm = createClockAlarm(
    log,
    (holds, text) => shown.alarmBook.state(ofGateway, "CLOCK_SKEW", { holds, text }),
    (aheadMs) => dispatcher.confirmClock(aheadMs),
  );
  const fleet = createFleetSession(config.fleet, { ...parts, sink: hear, onClockSkew: clockAlarm.note });
  const auditFile = { path: join(config.gateway.dataDir, "audit", "audit.jsonl"), ...config.audit };
  const audit = createLineFile(auditFile, clock, log);
  const commands = {
    catalogue,
    clock,
    log: log.child({ part: "commands" }),
    audit: auditTo(audit),
    meter,
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
    alarmBook: shown.alarmBook,
    onHold: (robotId) => fanOut.offer({ changes: shown.holdsOf(robotId), events: [] }),
    eventsLostSinceMs: outbox?.commandsLostSinceMs ?? null,
    auditLines: (take) => readLinesBack(auditFile, AUDIT_READ_BYTES, take),
  });
  const intake = createIntake({
    ...commands,
    options: config.intake,
    rights: rightsOf(config.dispatcher),
    execution: dispatcher,
  });
  const held = { ...parts, state, fanOut, audit, stores, configurationHealth };
  const history = createHealthHistory(clock, () => healthOf(components, held));
  const dependencies: Dependencies = {
    ...parts,
    config,
    catalogue,
    state,
    fanOut,
    tell,
    deliver,
    dispatcher,
    intake,
    audit,
    stores,
    shown,
    isFleetLinkUp: () => link.isUp,
    fleetLink: () => link,
    meter,
    readiness: createReadiness(),
    health: history.health,
    stateSinceMs: history.sinceMs,
    noteHealth: history.note,
    certificates: createOwnCertificates(config),
    hang: () => firstHang([...components, { name: "queues", hang: fanOut.hang }]),
  };
  return { dependencies, fleet, auditSink: commands.audit };
}

/** What follows for commands and alarms when another configuration holds, after the northbounds. */
function coreConsequences({ logLevels, dispatcher, shown, fanOut }: Dependencies): Consequence[] {
  return [
    (before, now) => {
      if (now.log.level !== before.log.level) logLevels?.set(null, now.log.level, "a reload");
    },
    (before, now) => dispatcher.reviewRights(goneUsers(before, now)),
    () => fanOut.offer(shown.judgeBatteries()),
  ];
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

/** What is known of the fleet, and what northbounds show of it. */
function createStates(
  { quality: times, stations, alarms, gateway }: Config,
  { clock, log, sessionId, outbox }: RunParts,
  holdState: Holds["holdState"],
): { readonly state: FleetState; readonly shown: ShownState } {
  const limits = { maxRobots: MAX_ROBOTS, maxTaskChains: MAX_TASK_CHAINS };
  const told = outbox === null ? {} : { toldBefore: outbox.told };
  const state = createFleetState({ times, ...limits, ...told, sessionId, clock, log });
  const { battery } = alarms;
  const { dataDir } = gateway;
  return {
    state,
    shown: createShownState({ state, holdState, stations, battery, dataDir, sessionId, clock, log }),
  };
}

/**
 * The session to the fleet, which is opened first to be closed last, but begins only when `begin` resolves:
 * the OPC UA server takes the processor for a second or two while it is made, and calls that wait for it time
 * out. With webhooks it has a port to bind itself, and cannot wait.
 */
function opensFirst(fleet: Component, { fleet: { events } }: Config, begin: Promise<void>): Component {
  if (events.kind === "webhook") return fleet;
  return {
    ...fleet,
    async run(signal, ready) {
      ready();
      await Promise.race([begin, aborted(signal)]);
      if (!signal.aborted) await fleet.run(signal, () => {});
    },
  };
}

/** Opens last and closes first: while anything else is open or closing, no new command is taken. */
function commandIntake(dependencies: Dependencies, drainMs: number): Component {
  const { dispatcher, intake, audit, stores, shown, readiness } = dependencies;
  return {
    name: COMMANDS,
    health: () =>
      stores.commandsHealth(mergedHealth({ state: "up", figures: intake.figures() }, dispatcher.health())),
    async run(signal, ready) {
      ready();
      await aborted(signal);
      readiness.closing();
      await dispatcher.close(drainMs);
      await shown.settled();
      await audit.close();
    },
  };
}
