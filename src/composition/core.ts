import { createOwnCertificates } from "../config/own-certificates.ts";
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
import type { Component } from "../platform/component.ts";
import { freeBytes } from "../platform/disk-space.ts";
import { createBatteryTrends } from "../state/battery-trends.ts";
import { createClockAlarm } from "../state/clock-alarm.ts";
import { version } from "../version.ts";
import { type Commands, createCommands } from "./commands.ts";
import { createGatewayHealth } from "./gateway-health.ts";
import { createLinkWatch } from "./link-watch.ts";
import type { Recordings } from "./recordings.ts";
import type { Run } from "./run.ts";
import { createStages, createState } from "./stages.ts";

/** The modules between the fleet service and the northbounds, joined. */
export type Core = ReturnType<typeof createCore>;

/**
 * Data: fleet → state → pipeline → northbounds. Commands: northbounds → intake → dispatcher → fleet.
 *
 * @param components those of the run; the list grows until all are made
 */
export function createCore(run: Run, components: readonly Component[]) {
  const { config, work, sessionId, outbox, recordings } = run;
  const { clock, random, log } = run.surroundings;
  const { tap } = recordings;
  const catalogue = createCatalogue();
  const meter = createMeter(catalogue.keys());
  const certificates = createOwnCertificates(config);

  const state = createState(config, outbox?.published ?? null, sessionId, clock, log);
  const holdState = (robotId: string | null) => commands.dispatcher.holds.holdState(robotId);
  const stages = createStages(config, holdState, sessionId, clock, log);
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

  const fleet = createFleetSession(config.fleet, {
    clock: work.clock("fleet"),
    random,
    log,
    // What follows from a message counts as the session's work.
    sink: (update) => work.time("fleet", () => receive(update)),
    onClockSkew: clockAlarm.note,
    tap,
  });
  const commands: Commands = createCommands(run, {
    catalogue,
    meter,
    port: fleet.port,
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

  const { batteryOf, open } = createBatteryTrends({ charges: state.charges, clock });
  const health = createGatewayHealth(components, run, { state, fanOut, auditLog: commands.auditLog });
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
    link,
    state,
    stages,
    pipeline,
    fanOut,
    commands,
    catalogue,
    trends: { batteryOf, open, latency: commands.latency },
    certificates,
    health,
    metrics: createMetrics({ version, meter, readings, health: health.now, clock }),
  };
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
