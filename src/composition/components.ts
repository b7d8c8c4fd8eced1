import type { Config } from "../config/load.ts";
import type { Batch } from "../contracts/link.ts";
import { leavingMs } from "../fleet/options.ts";
import { aborted, type Component, mergedHealth } from "../platform/component.ts";
import type { Step } from "../platform/supervisor.ts";
import { createQualityTicker } from "../state/quality-reader.ts";
import { createAlarmWatch } from "./alarm-watch.ts";
import { createClusterAlarms } from "./cluster-alarms.ts";
import type { Core } from "./core.ts";
import { mqtt } from "./mqtt.ts";
import { opcua } from "./opcua.ts";
import type { Run } from "./run.ts";
import { control, fleetApi, web } from "./web.ts";

const START_TIMEOUT_MS = 60_000;
/** A component that hangs while it closes is abandoned, so that the others can close too. */
export const STOP_TIMEOUT_MS = 4_000;
const nothing: Batch = { changes: [], events: [] };
const COMMANDS = "commands";
const FLEET = "fleet";

/**
 * Fills the list of the components of a run, in the order in which they open. They close in reverse: commands
 * are refused and drained first, the session to the fleet and its events go last.
 *
 * @param begin resolves when the session to the fleet may begin
 */
export async function addComponents(
  components: Component[],
  run: Run,
  core: Core,
  begin: Promise<void>,
): Promise<void> {
  const { config, surroundings, stores, recordings, outbox, sparkplugOutbox, cluster } = run;
  const { clock } = surroundings;
  const { fleet, fanOut, state, stages, pipeline, certificates, health, commands, noteWrongClock } = core;
  for (const component of [recordings.recorder, commands.journald, outbox, sparkplugOutbox])
    if (component !== null) components.push(component);
  const standby = cluster?.standby ?? null;
  components.push(
    standby === null
      ? opensFirst(fleet, config, begin)
      : standby.shown(
          opensFirst(
            fleet,
            config,
            begin.then(() => standby.opened),
          ),
        ),
    createQualityTicker(clock, () => pipeline.enter(state.tick())),
    createAlarmWatch({
      dataDir: config.gateway.dataDir,
      stores,
      certificates,
      noteHealth: health.note,
      builtAt: surroundings.builtAt ?? null,
      noteWrongClock,
      fleet,
      fanOut,
      state: stages.alarmRegistry.state,
      ...(cluster === null
        ? {}
        : { lookAtCluster: createClusterAlarms(cluster.sight, stages.alarmRegistry.state).look }),
      tick: () => pipeline.enterAfter("attribution", nothing),
      clock,
    }),
  );
  components.push(...(await createNorthbounds(run, core)), commandIntake(run, core));
}

/** The northbounds of a configuration, in the order in which they open. */
async function createNorthbounds(run: Run, core: Core): Promise<readonly Component[]> {
  const { config } = run;
  const opcuaServer = config.opcua === null ? null : await opcua(config.opcua, run, core);
  const ofMqtt = config.mqtt === null ? null : mqtt(config.mqtt, run, core);
  const tags = [opcuaServer?.tags ?? null, ofMqtt?.tags ?? null].filter((each) => each !== null);
  const peers = [
    ...(opcuaServer === null ? [] : [{ part: "opcua", peers: opcuaServer.peers }]),
    ...(ofMqtt?.peers ?? []),
  ];
  const api = fleetApi(run, core, { tags, peers });
  const clientCertificates = opcuaServer?.clientCertificates ?? null;
  const northbounds = [
    opcuaServer,
    ...(ofMqtt?.components ?? []),
    config.web && web(config.web, run, core, api, clientCertificates),
    config.control && control(config.control, run, core, api, clientCertificates),
  ];
  return northbounds.filter((each) => each !== null);
}

/**
 * The session to the fleet, which is opened first to be closed last, but begins only when `begin` resolves
 * (docs/internals/decisions.md, The fleet session begins when the listeners stand). With webhooks it has a
 * port to bind itself, and cannot wait.
 */
function opensFirst(
  fleet: Component,
  { fleet: { events } }: Pick<Config, "fleet">,
  begin: Promise<void>,
): Component {
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

/** Opens last and closes first: while anything else is open or closing, no new command is accepted. */
function commandIntake({ config, stores, readiness }: Run, { commands }: Core): Component {
  const { dispatcher, intake, auditLog } = commands;
  return {
    name: COMMANDS,
    health: () =>
      stores.commandsHealth(mergedHealth({ state: "up", figures: intake.figures() }, dispatcher.health())),
    async run(signal, ready) {
      ready();
      await aborted(signal);
      readiness.closing();
      await dispatcher.drain(config.drainMs);
      await auditLog.close();
    },
  };
}

/** The components in the order in which they open, and how long each may take. */
export function stepsOf(components: readonly Component[], config: Config): Step[] {
  return components.map((component) => ({
    component,
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS + lastWordsMs(component.name, config),
  }));
}

/** How much longer a component may take to finish what it has begun. */
function lastWordsMs(name: string, { drainMs, fleet }: Config): number {
  if (name === COMMANDS) return drainMs;
  return name === FLEET ? leavingMs(fleet.events) : 0;
}
