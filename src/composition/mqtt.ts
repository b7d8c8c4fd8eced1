import type { PeerSource } from "../contracts/peers.ts";
import type { TagSource } from "../contracts/tags.ts";
import { createLinkRunner } from "../delivery/link-runner.ts";
import { ofGateway } from "../domain/alarm.ts";
import { type BrokerParts, createBroker, type EmbeddedBroker } from "../northbound/mqtt/broker/broker.ts";
import { createCommandMessages } from "../northbound/mqtt/commands.ts";
import { createDuplicateWatch } from "../northbound/mqtt/duplicate-gateway.ts";
import { createLeadership, type Leadership } from "../northbound/mqtt/leadership.ts";
import { createMqttLink, type MqttLink } from "../northbound/mqtt/link.ts";
import { createMemberStatus } from "../northbound/mqtt/member-status.ts";
import type { MqttOptions } from "../northbound/mqtt/options.ts";
import { createTopicRecords } from "../northbound/mqtt/published-topics.ts";
import {
  createSparkplugLink,
  type SparkplugLink,
  type SparkplugLinkParts,
} from "../northbound/mqtt/sparkplug/link.ts";
import type { SparkplugOptions } from "../northbound/mqtt/sparkplug/options.ts";
import { createSparkplugTopics } from "../northbound/mqtt/sparkplug/topics.ts";
import { createOwnTopics } from "../northbound/mqtt/status.ts";
import { createLiveTopics, type LiveTopics } from "../northbound/mqtt/topics.ts";
import type { Clock } from "../platform/clock.ts";
import { type Component, mergedHealth } from "../platform/component.ts";
import type { Log } from "../platform/log.ts";
import { version } from "../version.ts";
import type { Core } from "./core.ts";
import { QUEUE, type Run, startRetry } from "./run.ts";

const EVENT_DRAIN_MS = 1_000;
const WRITE_TIMEOUT_MS = 30_000;
/** How long the gateway's own broker may be unreachable, beyond two waits of the backoff. */
const OWN_BROKER_MS = 60_000;

/** The components that speak MQTT. */
export interface MqttNorthbound {
  /** In the order in which they open. */
  readonly components: readonly Component[];
  /** Null: no JSON topics are published. */
  readonly tags: TagSource | null;
  readonly peers: readonly PeerSource[];
}

/** What the JSON topics and the edge node of Sparkplug share. */
interface Shared {
  readonly broker: EmbeddedBroker | null;
  readonly live: LiveTopics;
  readonly leadership: Leadership | null;
  readonly onDuplicate: (active: boolean, text: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The embedded broker if there is one, then what publishes there: the JSON topics and the edge node of
 * Sparkplug, or one of them.
 */
export function mqtt(options: MqttOptions, run: Run, core: Core): MqttNorthbound {
  const { config, surroundings, work, cluster } = run;
  const clock = work.clock("mqtt");
  const log = surroundings.log.child({ part: "mqtt" });
  const live = createLiveTopics(options);
  // The process of a leader that has a successor ends by itself: it cannot prove that it leads any more.
  const leadership = cluster && createLeadership(cluster.view);
  const duplicates = createDuplicateAlarm(core);
  const broker =
    options.broker.kind === "embedded"
      ? ownBroker({ options: options.broker, live, clock, log }, run, core)
      : null;
  const { sparkplug: ofNode } = config;
  const shared = { broker, live, leadership, onDuplicate: duplicates(), clock, log };
  const json = ofNode?.json === false ? null : jsonTopics(options, shared, run, core);
  const node =
    ofNode &&
    sparkplug(
      options,
      ofNode,
      { openBroker: broker?.open ?? null, leadership, onDuplicate: duplicates() },
      run,
      core,
    );
  const components = [broker, ...(json?.components ?? []), node?.component ?? null];
  return {
    components: components.filter((each) => each !== null),
    tags: json?.link.tags ?? null,
    peers: [
      ...(json === null ? [] : [{ part: "mqtt", peers: json.link.peers }]),
      ...(node === null ? [] : [{ part: "sparkplug", peers: node.peers }]),
    ],
  };
}

/** The link to the broker for the JSON topics, and how a reload changes it. */
function jsonTopics(
  options: MqttOptions,
  { broker, live, leadership, onDuplicate, clock, log }: Shared,
  run: Run,
  { fanOut, commands, health }: Core,
): { readonly components: readonly Component[]; readonly link: MqttLink } {
  const { config, surroundings, sessionId, stores, outbox, readiness, cluster } = run;
  const { acts } = commands;
  const { stopping } = readiness;
  const { topics } = live;
  const { gatewayId } = options;
  const own = { sessionId, stopping, health: health.now, leadership, clock };
  const ownTopics = createOwnTopics(gatewayId, topics, own);
  const { noteStatus } = ownTopics;
  const watch = { sessionId, stopping, leadership, clock, log, noteStatus, onDuplicate };
  const link = createMqttLink(options, topics, {
    run: { sessionId, builtAt: surroundings.builtAt ?? null, leadership },
    ownBroker: broker,
    ownTopics,
    commands: createCommandMessages({
      options,
      topics,
      clock,
      log,
      commander: commands.intakeOf("mqtt"),
      acts,
    }),
    duplicates: createDuplicateWatch(topics.status, gatewayId, watch),
    records: createTopicRecords(broker === null ? stores.tables : null, topics.taskChainFilter, sessionId),
    clock,
    log,
  });
  options.placement.onChange(() => {
    const move = live.follow();
    if (move.isMoved) broker?.topicsMoved();
    link.topicsMoved(move);
  });
  const { backoffBaseMs, backoffCapMs } = config.fleet.times;
  const backoff = { baseMs: backoffBaseMs, capMs: backoffCapMs };
  const runner = createLinkRunner(link, {
    outlet: fanOut.attachOutlet(link.name, QUEUE, outbox ?? undefined),
    backoff,
    writeTimeoutMs: WRITE_TIMEOUT_MS,
    ...(broker === null ? {} : { hangAfterMs: OWN_BROKER_MS + 2 * backoffCapMs }),
    drainMs: EVENT_DRAIN_MS,
    clock,
    random: surroundings.random,
    log,
  });
  const component = { ...runner, health: () => mergedHealth(runner.health(), link.health()) };
  const member =
    cluster &&
    createMemberStatus(options, topics.member(cluster.view.member), {
      cluster: cluster.view,
      ...{
        sessionId,
        builtAt: surroundings.builtAt ?? null,
        backoff,
        clock,
        random: surroundings.random,
        log,
      },
    });
  return { components: [component, member].filter((each) => each !== null), link };
}

interface OwnBrokerParts extends Pick<BrokerParts, "options" | "clock" | "log"> {
  readonly live: LiveTopics;
}

function ownBroker({ live, ...parts }: OwnBrokerParts, run: Run, { commands }: Core): EmbeddedBroker {
  const { mqtt: options, sparkplug: ofNode } = run.config;
  const retry = startRetry("mqtt", parts.clock, run);
  return retry.shown(
    createBroker({
      ...parts,
      topics: live.topics,
      clientId: options?.clientId ?? "",
      ...(ofNode === null ? {} : { fromHost: createSparkplugTopics(ofNode, true).fromHost }),
      retry,
      audit: commands.intake,
    }),
  );
}

/** One alarm for all watches: it is active while one of them has found another gateway. */
function createDuplicateAlarm({ stages }: Core): () => Shared["onDuplicate"] {
  const found = new Map<object, string>();
  return () => {
    const watch = {};
    return (active, text) => {
      if (active) found.set(watch, text);
      else found.delete(watch);
      const [first = text] = found.values();
      stages.alarmRegistry.state(ofGateway, "DUPLICATE_GATEWAY", { holds: found.size > 0, text: first });
    };
  };
}

/** What the edge node shares with the JSON topics. */
interface SparkplugParts extends Pick<SparkplugLinkParts, "openBroker" | "onDuplicate"> {
  readonly leadership: Leadership | null;
}

/** The edge node of Sparkplug, with a connection to the broker of its own. */
function sparkplug(
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
