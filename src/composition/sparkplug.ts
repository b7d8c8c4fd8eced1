import { createLinkRunner } from "../delivery/link-runner.ts";
import type { Leadership } from "../northbound/mqtt/leadership.ts";
import type { MqttOptions } from "../northbound/mqtt/options.ts";
import {
  createSparkplugLink,
  type SparkplugLink,
  type SparkplugLinkParts,
} from "../northbound/mqtt/sparkplug/link.ts";
import type { SparkplugOptions } from "../northbound/mqtt/sparkplug/options.ts";
import { type Component, mergedHealth } from "../platform/component.ts";
import { version } from "../version.ts";
import type { Core } from "./core.ts";
import { QUEUE, type Run } from "./run.ts";

const EVENT_DRAIN_MS = 1_000;
const WRITE_TIMEOUT_MS = 30_000;

/** What the edge node shares with the JSON topics. */
export interface SparkplugParts extends Pick<SparkplugLinkParts, "openBroker" | "onDuplicate"> {
  readonly leadership: Leadership | null;
}

/** The edge node of Sparkplug, with a connection to the broker of its own. */
export function sparkplug(
  options: MqttOptions,
  own: SparkplugOptions,
  parts: SparkplugParts,
  { config, surroundings, work, stores, sparkplugOutbox }: Run,
  { fanOut, commands, health, link: fleetLink }: Core,
): Pick<SparkplugLink, "peers"> & { readonly component: Component } {
  const clock = work.clock("sparkplug");
  const log = surroundings.log.child({ part: "sparkplug" });
  const { backoffBaseMs, backoffCapMs } = config.fleet.times;
  const link = createSparkplugLink(options, own, {
    ...parts,
    facts: {
      ...{ version, builtAt: surroundings.builtAt ?? null },
      ...{ health: health.now, fleetLinkUp: () => fleetLink.now().isUp },
      permitOf: commands.dispatcher.permits.permitOf,
    },
    commander: commands.intakeOf("sparkplug"),
    tables: stores.tables,
    ...{ clock, log },
  });
  const runner = createLinkRunner(link, {
    outlet: fanOut.attachOutlet(link.name, QUEUE, sparkplugOutbox ?? undefined),
    backoff: { baseMs: backoffBaseMs, capMs: backoffCapMs },
    writeTimeoutMs: WRITE_TIMEOUT_MS,
    drainMs: EVENT_DRAIN_MS,
    ...{ clock, random: surroundings.random, log },
  });
  return {
    peers: link.peers,
    component: { ...runner, health: () => mergedHealth(runner.health(), link.health()) },
  };
}
