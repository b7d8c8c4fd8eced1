import { auditHealth } from "../commands/audit/audit.ts";
import { createOwnCertificates } from "../config/certificate-files.ts";
import type { Readings } from "../contracts/metrics.ts";
import type { Stage } from "../contracts/stage.ts";
import { createFanOut, type FanOut } from "../delivery/fan-out.ts";
import { createPipeline, type Pipeline } from "../delivery/pipeline.ts";
import { ofGateway } from "../domain/alarm.ts";
import type { FleetUpdate } from "../domain/update.ts";
import { createFleetSession } from "../fleet/fleet-session.ts";
import { createCatalogue } from "../fleet/operations.ts";
import { createMeter } from "../northbound/web/metrics/meter.ts";
import { createMetrics } from "../northbound/web/metrics/metrics.ts";
import { type Component, createHealthHistory, type Health } from "../platform/component.ts";
import { freeBytes } from "../platform/disk-health.ts";
import type { LineFile } from "../platform/line-file.ts";
import { firstHang } from "../platform/liveness.ts";
import { createProcessHealth } from "../platform/process-health.ts";
import { createClockAlarm } from "../state/alarm-conditions.ts";
import { createFleetState, type FleetState } from "../state/fleet-state.ts";
import { createBatteryTrends, createHourTrends } from "../state/trends.ts";
import { version } from "../version.ts";
import { createLinkWatch } from "./alarm-watch.ts";
import { type Commands, createCommands } from "./commands.ts";
import type { Recordings } from "./run.ts";
import { type Run, startRetry } from "./run.ts";
import { createStages } from "./stages.ts";

const MAX_ROBOTS = 10_000;
const MAX_TASK_CHAINS = 10_000;
const processHealth = createProcessHealth();

/** The modules between the fleet service and the northbounds, joined. */
export type Core = ReturnType<typeof createCore>;

/**
 * Data: fleet → state → pipeline → northbounds. Commands: northbounds → intake → dispatcher → fleet.
 *
 * @param components those of the run; the list grows until all are made
 */
export function createCore(run: Run, components: readonly Component[]) {
  const { config, work, recordings } = run;
  const { clock, random, log } = run.surroundings;
  const { tap } = recordings;
  const catalogue = createCatalogue();
  const meter = createMeter(catalogue.keys());
  const certificates = createOwnCertificates(config);

  const state = openState(run);
  const holdState = (robotId: string | null) => commands.dispatcher.holds.holdState(robotId);
  const stages = createStages(run, holdState, (batch) => pipeline.enterAfter("stations", batch));
  const { alarmRegistry } = stages;
  const link = createLinkWatch(alarmRegistry.state, clock);
  const clockAlarm = createClockAlarm(
    log,
    (holds, text) => alarmRegistry.state(ofGateway, "CLOCK_SKEW", { holds, text }),
    (aheadMs) => commands.dispatcher.confirmClock(aheadMs),
  );

  function receive(update: FleetUpdate): void {
    if (update.kind === "link") {
      link.note(update.state === "up");
      commands.dispatcher.fleetLink(update.state === "up");
    }
    const batch = state.apply(update);
    meter.received(update, batch.events);
    pipeline.enter(batch);
  }

  const fleetClock = work.clock("fleet");
  const fleet = createFleetSession(config.fleet, {
    clock: fleetClock,
    random,
    log,
    // What follows from a message counts as the session's work.
    sink: (update) => work.time("fleet", () => receive(update)),
    onClockSkew: clockAlarm.note,
    tap,
    retry: startRetry("fleet", fleetClock, run),
  });
  const commands: Commands = createCommands(run, {
    catalogue,
    meter,
    port: run.cluster?.standby?.port(fleet.port) ?? fleet.port,
    robot: state.robot,
    stages,
    enterAfter: (stage, batch) => pipeline.enterAfter(stage, batch),
  });
  const pipeline: Pipeline = createPipeline(state, [
    stages.holds,
    stages.stations,
    commands.dispatcher.stage,
    stages.alarms,
    deliveryStage(() => fanOut, recordings),
  ]);
  const fanOut = createFanOut({ state: pipeline, clock, log, work, tap });

  const health = createHealth(components, run, state, fanOut, commands.auditLog);
  const readings: Readings = {
    robots: state.robots,
    streams: fleet.streamCounts,
    link: link.now,
    alarms: alarmRegistry.all,
    certificateEnds: certificates.found,
    diskFreeBytes: () => freeBytes(config.gateway.dataDir),
  };
  return {
    fleet: link.watch(fleet),
    cut: fleet.cut,
    link,
    state,
    stages,
    pipeline,
    fanOut,
    commands,
    catalogue,
    noteWrongClock: clockAlarm.noteWrong,
    trends: { ...createBatteryTrends(state.charges, clock), latency: commands.latency },
    hour: createHourTrends(state.known, clock),
    certificates,
    health,
    metrics: createMetrics({
      ...{ version, meter, readings, health: health.now, clock },
      cluster: run.cluster?.view ?? null,
    }),
  };
}

function openState({ config, surroundings, sessionId, outbox, sparkplugOutbox }: Run): FleetState {
  return createFleetState({
    times: config.quality,
    maxRobots: MAX_ROBOTS,
    maxTaskChains: MAX_TASK_CHAINS,
    sessionId,
    publishedBefore: (outbox ?? sparkplugOutbox)?.published ?? null,
    clock: surroundings.clock,
    log: surroundings.log,
  });
}

/** The last stage: the queues of the northbounds, and the recorder. */
function deliveryStage(fanOut: () => FanOut, recordings: Recordings): Stage {
  return {
    name: "delivery",
    apply(batch) {
      fanOut().offer(batch);
      recordings.look(batch.events);
      return batch;
    },
  };
}

/** The health of all components by name, and of what is no component. */
function createHealth(
  components: readonly Component[],
  { surroundings: { clock, ownHealth }, stores, reloads, work }: Run,
  state: FleetState,
  fanOut: FanOut,
  auditLog: LineFile,
) {
  const queues = { name: "queues", hang: fanOut.hang };
  const history = createHealthHistory(clock, () => ({
    ...Object.fromEntries(components.map((component) => [component.name, component.health()])),
    state: { state: "up", figures: state.figures() },
    queues: fanOut.health(),
    audit: auditHealth(auditLog),
    stores: stores.health(),
    disk: stores.diskHealth(),
    configuration: reloads.health(),
    process: processHealth(),
    ...ownHealth?.(),
  }));
  return {
    now: (): Readonly<Record<string, Health>> => work.time("health", history.health),
    /** Wall time since when a component has been in its state; null: not known. */
    sinceMs: history.sinceMs,
    /** Notes when the state of a component changes. */
    note: history.note,
    /** The component that is stalled now; null: all answer. */
    hang: () => firstHang([...components, queues]),
    /** False: a component that keeps values and their quality up to date, or hands them over, is stalled. */
    areValuesKept: () => firstHang([...components.filter(({ name }) => name === "quality"), queues]) === null,
  };
}
