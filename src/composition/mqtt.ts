import { createLinkRunner } from "../delivery/link-runner.ts";
import { ofGateway } from "../domain/alarm.ts";
import { type BrokerParts, createBroker, type EmbeddedBroker } from "../northbound/mqtt/broker/broker.ts";
import { createCommandMessages } from "../northbound/mqtt/commands.ts";
import { createDuplicateWatch } from "../northbound/mqtt/duplicate-gateway.ts";
import { createLeadership } from "../northbound/mqtt/leadership.ts";
import { createMqttLink, type MqttLink } from "../northbound/mqtt/link.ts";
import { createLiveTopics } from "../northbound/mqtt/live-topics.ts";
import { createMemberStatus } from "../northbound/mqtt/member-status.ts";
import type { MqttOptions } from "../northbound/mqtt/options.ts";
import { createTopicRecords } from "../northbound/mqtt/published-topics.ts";
import { createOwnTopics } from "../northbound/mqtt/status.ts";
import type { Component } from "../platform/component.ts";
import { mergedHealth } from "../platform/health-history.ts";
import type { Core } from "./core.ts";
import { QUEUE, type Run, startRetry } from "./run.ts";

const EVENT_DRAIN_MS = 1_000;
const WRITE_TIMEOUT_MS = 30_000;
/** How long the gateway's own broker may be unreachable, beyond two waits of the backoff. */
const OWN_BROKER_MS = 60_000;

/** The components that speak MQTT. */
export interface MqttNorthbound extends Pick<MqttLink, "tags" | "peers"> {
  /** In the order in which they open. */
  readonly components: readonly Component[];
}

/** The link to the broker, after the embedded broker if there is one, and how a reload changes them. */
export function mqtt(
  options: MqttOptions,
  run: Run,
  { stages, fanOut, commands, health }: Core,
): MqttNorthbound {
  const { config, surroundings, work, sessionId, stores, outbox, readiness, cluster } = run;
  const { acts, intake } = commands;
  const { stopping } = readiness;
  const clock = work.clock("mqtt");
  const log = surroundings.log.child({ part: "mqtt" });
  const live = createLiveTopics(options);
  const { topics } = live;
  const { clientId, gatewayId } = options;
  const broker =
    options.broker.kind === "embedded"
      ? ownBroker({ options: options.broker, topics, clientId, clock, log, audit: intake }, run)
      : null;
  // The process of a leader that has a successor ends by itself: it cannot prove that it leads any more.
  const leadership = cluster && createLeadership(cluster.view);
  const own = { sessionId, stopping, health: health.now, leadership, clock };
  const ownTopics = createOwnTopics(gatewayId, topics, own);
  const { noteStatus } = ownTopics;
  const onDuplicate = (holds: boolean, text: string) =>
    stages.alarmRegistry.state(ofGateway, "DUPLICATE_GATEWAY", { holds, text });
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
  const { tags, peers } = link;
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
  const components = [broker, component, member].filter((each) => each !== null);
  return { components, tags, peers };
}

function ownBroker(parts: BrokerParts, run: Run): EmbeddedBroker {
  const retry = startRetry("mqtt", parts.clock, run);
  return retry.shown(createBroker({ ...parts, retry }));
}
