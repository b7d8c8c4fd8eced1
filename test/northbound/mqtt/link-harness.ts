import { createBroker, type EmbeddedBroker } from "../../../src/northbound/mqtt/broker/broker.ts";
import { createMqttLink, type MqttLink, type MqttParts } from "../../../src/northbound/mqtt/link.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
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
export function newBroker(options = embedded, under = base): EmbeddedBroker {
  return createBroker({
    options,
    topics: createTopics(under),
    clientId: "fleetgate-test",
    clock: systemClock,
    log: silentLog,
    audit: noAudit,
  });
}

/** A link of which each test says what is special to it. */
export function newLink(changes: Partial<MqttParts> = {}): MqttLink {
  const { options = mqttOptions() } = changes;
  return createMqttLink({
    options,
    topics: createTopics(options.base, options.placement.now()),
    retained: () => Promise.resolve([]),
    sessionId: "s1",
    stopping: new AbortController().signal,
    clock: systemClock,
    log: silentLog,
    commander: recordingCommander(),
    acts: createTestActs(),
    health: () => ({}),
    openBroker: null,
    topicsFiles: null,
    arrivals: null,
    onDuplicate: () => {},
    ...changes,
  });
}

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
