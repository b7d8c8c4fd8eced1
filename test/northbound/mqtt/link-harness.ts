import type { Acts } from "../../../src/contracts/acts.ts";
import type { Commander } from "../../../src/contracts/commander.ts";
import { createBroker, type EmbeddedBroker } from "../../../src/northbound/mqtt/broker/broker.ts";
import type { EventArrivals } from "../../../src/northbound/mqtt/broker/event-arrivals.ts";
import { createCommandMessages } from "../../../src/northbound/mqtt/commands.ts";
import { createDuplicateWatch } from "../../../src/northbound/mqtt/duplicate-gateway.ts";
import type { Leadership } from "../../../src/northbound/mqtt/leadership.ts";
import { createMqttLink, type MqttLink } from "../../../src/northbound/mqtt/link.ts";
import type { MqttOptions } from "../../../src/northbound/mqtt/options.ts";
import { createTopicRecords } from "../../../src/northbound/mqtt/published-topics.ts";
import type { ReplyBounds } from "../../../src/northbound/mqtt/replies.ts";
import type { SparkplugTopics } from "../../../src/northbound/mqtt/sparkplug/topics.ts";
import { createOwnTopics, type HealthReport } from "../../../src/northbound/mqtt/status.ts";
import { createTopics, type Topics } from "../../../src/northbound/mqtt/topics.ts";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";
import { type Log, silentLog } from "../../../src/platform/log.ts";
import type { WriteBehind } from "../../../src/platform/stores/write-behind.ts";
import type { CommandsHarness } from "../../commands/commands-harness.ts";
import { createTestActs } from "../../support/fake-acts.ts";
import {
  base,
  embedded,
  type Listener,
  listen,
  mqttOptions,
  noAudit,
  recordingCommander,
  start,
} from "./mqtt-harness.ts";

/** The embedded broker of a gateway with these tests' base. */
export function newBroker(
  options = embedded,
  under = base,
  fromHost: SparkplugTopics["fromHost"] = () => null,
): EmbeddedBroker {
  return createBroker({
    fromHost,
    options,
    topics: createTopics(under),
    clientId: "fleetgate-test",
    clock: systemClock,
    log: silentLog,
    audit: noAudit,
  });
}

/** What a test says of its link. */
export interface LinkChanges {
  readonly options?: MqttOptions;
  readonly topics?: Topics;
  readonly sessionId?: string;
  readonly stopping?: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly commander?: Commander;
  readonly acts?: Acts;
  readonly replyBounds?: ReplyBounds;
  readonly health?: () => HealthReport;
  /** Opens a stream into the gateway's own broker; null: there is none. */
  readonly openBroker?: EmbeddedBroker["open"] | null;
  readonly arrivals?: EventArrivals;
  readonly retained?: EmbeddedBroker["retained"];
  readonly tables?: WriteBehind | null;
  readonly onDuplicate?: (active: boolean, text: string) => void;
  readonly leadership?: Leadership | null;
}

/** A link of which each test says what is special to it. */
export function newLink({
  options = mqttOptions(),
  topics = createTopics(options.base, options.placement.now()),
  sessionId = "s1",
  stopping = new AbortController().signal,
  clock = systemClock,
  log = silentLog,
  commander = recordingCommander(),
  acts = createTestActs(),
  replyBounds,
  health = () => ({}),
  openBroker = null,
  arrivals = atOnce,
  retained = () => Promise.resolve([]),
  tables = null,
  onDuplicate = () => {},
  leadership = null,
}: LinkChanges = {}): MqttLink {
  const { gatewayId } = options;
  const ownTopics = createOwnTopics(gatewayId, topics, { sessionId, stopping, health, leadership, clock });
  const { noteStatus } = ownTopics;
  const watch = { sessionId, stopping, leadership, clock, log, noteStatus, onDuplicate };
  return createMqttLink(options, topics, {
    run: { sessionId, builtAt: null, leadership },
    ownBroker: openBroker === null ? null : { open: openBroker, arrivals, retained },
    ownTopics,
    commands: createCommandMessages({ options, topics, clock, log, commander, acts, replyBounds }),
    duplicates: createDuplicateWatch(topics.status, gatewayId, watch),
    records: createTopicRecords(tables, topics.taskChainFilter, sessionId),
    clock,
    log,
  });
}

/** A subscriber is always there, and has an event as soon as the broker has it. */
const atOnce: EventArrivals = {
  subscribers: () => 1,
  areComing: () => false,
  watch: () => () => {},
  arrived: () => Promise.resolve(true),
};

/** A link to a real broker, with clients on the other side. */
export interface OpenedLink {
  readonly clients: Listener;
  /** Publishes for a client, below its own topic, and waits for its answer. */
  tell(
    client: string,
    topic: string,
    fields: object,
    options?: { readonly retain?: boolean },
  ): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** A real broker, link and dispatcher; only the robots, and the dispatcher's time, are the test's own. */
export async function openLink(commands: CommandsHarness, options = mqttOptions()): Promise<OpenedLink> {
  const broker = newBroker();
  const stopBroker = await start(broker);
  const clients = await listen(`mqtt://127.0.0.1:${broker.port()}`, {}, `${base}/clients/+/reply/#`);
  const link = newLink({
    options,
    clock: commands.clock,
    commander: commands.intake,
    acts: commands.acts,
    openBroker: broker.open,
  });
  const connection = await link.connect(new AbortController().signal);
  let told = 0;
  return {
    clients,
    async tell(client, topic, fields, published = {}) {
      told += 1;
      const id = `q${told}`;
      const message = JSON.stringify({ id, ...fields });
      await clients.client.publishAsync(`${base}/clients/${client}/${topic}`, message, {
        qos: 1,
        ...published,
      });
      return JSON.parse((await clients.on(`clients/${client}/reply/${id}`)).text);
    },
    async close() {
      // The goodbye waits for the broker on the dispatcher's clock, which nobody turns any more.
      const closing = connection[Symbol.asyncDispose]();
      commands.clock.advance(10_000);
      await closing;
      await clients.client.endAsync(true);
      await stopBroker();
    },
  };
}
