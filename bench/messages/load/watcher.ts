import mqtt, { type MqttClient } from "mqtt";
import {
  AttributeIds,
  ClientMonitoredItemGroup,
  type ClientSession,
  type ClientSubscription,
  type DataValue,
  MessageSecurityMode,
  OPCUAClient,
  SecurityPolicy,
  StatusCodes,
  TimestampsToReturn,
} from "node-opcua";
import { type Side, SPARKPLUG_GROUP } from "../protocol.ts";

/** Called for each message seen at the far end of a side. */
export interface ObservationListener {
  mqtt(robot: string, sequence: number, payload: Buffer): void;
  opcua(robot: string, sequence: number): void;
  /** Data of a robot; they say nothing of a sequence number. */
  sparkplug(robot: string): void;
}

const SEQUENCE_KEY = Buffer.from('"sequence_number":');
const COMMA = 0x2c;
const BRACE = 0x7d;
const PUBLISHING_INTERVAL_MS = 50;

/** The plant's end of one side: an MQTT subscriber and an OPC UA subscriber. */
export class Watcher {
  readonly #mqtt: MqttClient[] = [];
  #opcua: OPCUAClient | undefined;
  #session: ClientSession | undefined;
  #subscription: ClientSubscription | undefined;

  async watchJson(port: number, side: Side, listener: ObservationListener): Promise<void> {
    const client = await this.#connect(port, `watch-${side}`);
    const prefix = `fleetgate/${side}/robots/`;
    client.on("message", (topic, payload) => {
      listener.mqtt(topic.slice(prefix.length, topic.lastIndexOf("/")), sequenceOf(payload), payload);
    });
    await client.subscribeAsync(`${prefix}+/mission`, { qos: 0 });
  }

  async watchSparkplug(port: number, side: Side, listener: ObservationListener): Promise<void> {
    const client = await this.#connect(port, `watch-${side}-sparkplug`);
    client.on("message", (topic) => listener.sparkplug(topic.slice(topic.lastIndexOf("/") + 1)));
    await client.subscribeAsync(`spBv1.0/${SPARKPLUG_GROUP}/DDATA/${side}/+`, { qos: 0 });
  }

  async #connect(port: number, clientId: string): Promise<MqttClient> {
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, { clientId });
    this.#mqtt.push(client);
    (client.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
    return client;
  }

  /** @param nodeIds the sequence number's node of each robot */
  async watchOpcua(
    port: number,
    nodeIds: ReadonlyMap<string, string>,
    listener: ObservationListener,
  ): Promise<void> {
    const client = OPCUAClient.create({
      endpointMustExist: false,
      securityMode: MessageSecurityMode.None,
      securityPolicy: SecurityPolicy.None,
    });
    this.#opcua = client;
    await client.connect(`opc.tcp://localhost:${port}`);
    this.#session = await client.createSession();
    await allThere(this.#session, [...nodeIds.values()]);
    this.#subscription = await this.#session.createSubscription2({
      requestedPublishingInterval: PUBLISHING_INTERVAL_MS,
      requestedLifetimeCount: 1000,
      requestedMaxKeepAliveCount: 10,
      maxNotificationsPerPublish: 10_000,
      publishingEnabled: true,
      priority: 1,
    });
    const robots = [...nodeIds.keys()];
    const group = ClientMonitoredItemGroup.create(
      this.#subscription,
      [...nodeIds.values()].map((nodeId) => ({ nodeId, attributeId: AttributeIds.Value })),
      { samplingInterval: 0, queueSize: 20, discardOldest: true },
      TimestampsToReturn.Both,
    );
    const initialised = new Promise<void>((resolve, reject) => {
      group.once("initialized", resolve);
      group.once("err", (message) => reject(new Error(String(message))));
    });
    group.on("changed", (_item, value: DataValue, index: number) => {
      const robot = robots[index];
      if (robot !== undefined) listener.opcua(robot, sequenceValue(value));
    });
    await initialised;
  }

  async close(): Promise<void> {
    for (const client of this.#mqtt) await client.endAsync(true);
    await this.#subscription?.terminate();
    await this.#session?.close();
    await this.#opcua?.disconnect();
  }
}

/** Waits until every node exists: a server may still be adding them when it listens. */
async function allThere(session: ClientSession, nodeIds: readonly string[]): Promise<void> {
  const wanted = nodeIds.map((nodeId) => ({ nodeId, attributeId: AttributeIds.Value }));
  while (
    (await session.read(wanted)).some((value) => value.statusCode.equals(StatusCodes.BadNodeIdUnknown))
  ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * The first sequence number in the payload, read without parsing it: the watcher must not be the bottleneck.
 */
function sequenceOf(payload: Buffer): number {
  const start = payload.indexOf(SEQUENCE_KEY) + SEQUENCE_KEY.length;
  let end = start;
  while (end < payload.length && payload[end] !== COMMA && payload[end] !== BRACE) end += 1;
  return Number(payload.toString("latin1", start, end));
}

/** Int64 values arrive as [high, low]. */
function sequenceValue(value: DataValue): number {
  const raw: unknown = value.value.value;
  return Array.isArray(raw) ? Number(raw[0]) * 2 ** 32 + Number(raw[1]) : Number(raw);
}
