import type { Clock } from "../../../platform/clock.ts";
import type { Loss } from "../client/client.ts";
import { type LimitedClient, PacketTooLarge } from "../client/limited-client.ts";
import type { Device } from "./device.ts";
import { MessageWriter } from "./message-writer.ts";
import { encodePayload, type PayloadParts, type Sample, writePayload } from "./payload.ts";
import type { Plant } from "./plant.ts";
import type { SparkplugCounts } from "./report.ts";
import type { SparkplugTopics } from "./topics.ts";

/** What a session of the edge node uses. */
export interface SessionParts {
  readonly client: LimitedClient;
  readonly topics: SparkplugTopics;
  readonly plant: Plant;
  readonly loss: Loss;
  readonly counts: SparkplugCounts;
  readonly clock: Clock;
  /** This birth of the node was published. */
  readonly onBirth: (payload: Buffer) => void;
}

/** Values of the past, of one device. */
export interface Past {
  readonly device: Device;
  readonly samples: readonly Sample[];
}

/** Publishes the messages of the node on one connection, each with the next sequence number. */
export interface Publisher {
  /** When the node was born last, by the wall clock. */
  bornAtMs(): number;
  /** Throws if one of the births is larger than the broker takes. */
  requireRoom(devices: Iterable<Device>): void;
  topicOf(type: "DBIRTH" | "DDATA" | "DDEATH", device: Device): Buffer;
  nodeBirth(): void;
  deviceBirth(device: Device): void;
  deviceDeath(device: Device): void;
  nodeData(): void;
  /** What has changed of a device; nothing, if nothing has. */
  data(topic: Buffer, device: Device): void;
  past(past: Past): void;
}

const SEQUENCE_NUMBERS = 256;
/** A broker that takes more takes each birth. */
const LARGEST_BIRTH = 64 * 1024;
/** Of a PUBLISH of MQTT 5, beside topic and payload: type, length, length of the topic, no properties. */
const MOST_HEADER = 8;

export function createPublisher(
  { client, topics, plant, counts, clock, onBirth }: SessionParts,
  packets: Pick<DataPackets, "add">,
): Publisher {
  const { device: node } = plant.node;
  const nodeData = Buffer.from(topics.node("NDATA"));
  let bornAtMs = 0;
  let seq = 0;

  const topicOf: Publisher["topicOf"] = (type, { id }) => Buffer.from(topics.device(type, id));

  function publish(topic: Buffer, samples: readonly Sample[], isBirth = false): void {
    // The clock may be set back: no message is older than the birth.
    packets.add(topic, { atMs: Math.max(bornAtMs, clock.nowMs()), seq, samples, isBirth });
    seq = (seq + 1) % SEQUENCE_NUMBERS;
  }

  function data(topic: Buffer, device: Device): void {
    const samples = device.takeChanged();
    if (samples.length === 0) return;
    counts.data += 1;
    publish(topic, samples);
  }

  return {
    bornAtMs: () => bornAtMs,
    topicOf,
    requireRoom(devices) {
      const { maximumPacketSize } = client.limits;
      if (maximumPacketSize > LARGEST_BIRTH) return;
      for (const device of [node, ...devices]) {
        const topic = device === node ? Buffer.from(topics.node("NBIRTH")) : topicOf("DBIRTH", device);
        const birth = { atMs: clock.nowMs(), seq: SEQUENCE_NUMBERS, samples: device.all(), isBirth: true };
        const bytes = encodePayload(birth).length + topic.length + MOST_HEADER;
        if (bytes > maximumPacketSize) throw new PacketTooLarge(topic.toString(), maximumPacketSize);
      }
    },
    nodeBirth() {
      bornAtMs = clock.nowMs();
      const birth = { atMs: bornAtMs, seq: 0, samples: node.birth(), isBirth: true };
      onBirth(encodePayload(birth));
      packets.add(Buffer.from(topics.node("NBIRTH")), birth);
      counts.births += 1;
      seq = 1;
    },
    deviceBirth(device) {
      counts.deviceBirths += 1;
      publish(topicOf("DBIRTH", device), device.birth(), true);
    },
    deviceDeath(device) {
      counts.deviceDeaths += 1;
      publish(topicOf("DDEATH", device), []);
    },
    nodeData: () => data(nodeData, node),
    data,
    past({ device, samples }) {
      counts.historical += samples.length;
      publish(topicOf("DDATA", device), samples);
    },
  };
}

/** Messages of the edge node: QoS 0, not retained. Those of one turn of the event loop leave in one piece. */
export interface DataPackets {
  /** Throws if it is larger than the broker takes. */
  add(topic: Buffer, payload: PayloadParts): void;
  /** Hands over what was added. */
  flush(): void;
  /** Of what was added, in bytes. */
  readonly length: number;
}

/** PUBLISH, QoS 0, not retained (MQTT 3.1.1 and 5, section 3.3.1). */
const PUBLISH = 0x30;

/** They are written in place: a message needs no buffer of its own. */
export function createDataPackets({
  stream,
  limits,
  options,
}: Pick<LimitedClient, "stream" | "limits" | "options">): DataPackets {
  const writer = new MessageWriter();
  const { maximumPacketSize } = limits;
  const hasProperties = options.protocolVersion === 5;
  return {
    add(topic, payload) {
      const at = writer.length;
      writer.byte(PUBLISH);
      // Its length is written as that of an inner message.
      const start = writer.beginLength();
      writer.byte(topic.length >> 8);
      writer.byte(topic.length & 0xff);
      writer.raw(topic);
      if (hasProperties) writer.byte(0);
      writePayload(writer, payload);
      writer.end(start);
      if (writer.length - at <= maximumPacketSize) return;
      writer.cut(at);
      throw new PacketTooLarge(topic.toString(), maximumPacketSize);
    },
    flush() {
      if (writer.length === 0) return;
      const bytes = writer.take();
      if (stream.writable) stream.write(bytes);
    },
    get length() {
      return writer.length;
    },
  };
}
