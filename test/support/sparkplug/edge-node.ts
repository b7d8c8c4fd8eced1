import type { Packet } from "mqtt-packet";
import { encode, type PayloadToWrite } from "./payload.ts";

type WrittenMetric = NonNullable<PayloadToWrite["metrics"]>[number];

/** What the edge node is about to publish, or to register as its last will. */
export interface Draft {
  readonly type: "will" | "NBIRTH" | "NDATA" | "NDEATH" | "DBIRTH" | "DDATA" | "DDEATH";
  readonly topic: string;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  readonly payload: PayloadToWrite;
}

/** A small edge node that keeps to the standard; a test plants defects in what it writes. */
export interface EdgeNode {
  /** Begins a connection, with the next bdSeq. */
  connect(): void;
  subscribe(topics: readonly string[]): void;
  birth(): void;
  deviceBirth(device: string): void;
  data(charge: number | null, device?: string): void;
  history(charge: number, device: string): void;
  deviceDeath(device: string): void;
  /** Publishes NDEATH and disconnects. */
  leave(): void;
}

export interface EdgeNodeParts {
  readonly send: (packet: Packet) => void;
  /** Changes what is written. */
  readonly alter?: (draft: Draft) => Draft;
  readonly nowMs?: () => number;
}

const INT64 = 4;
const INT32 = 3;
const BOOLEAN = 11;
const CHARGE = "Battery/ChargePercent";
export const groupId = "plant";
export const nodeId = "cell";

export function createEdgeNode({
  send,
  alter = (draft) => draft,
  nowMs = Date.now,
}: EdgeNodeParts): EdgeNode {
  const aliases = new Map<string, number>();
  let bdSeq = -1;
  let seq = 0;

  const topicOf = (type: string, device?: string) =>
    `spBv1.0/${groupId}/${type}/${nodeId}${device === undefined ? "" : `/${device}`}`;
  const bdSeqMetric = (): WrittenMetric => ({
    ...{ name: "bdSeq", timestamp: nowMs(), datatype: INT64, longValue: bdSeq },
  });
  const deathPayload = (): PayloadToWrite => ({ timestamp: nowMs(), metrics: [bdSeqMetric()] });

  function aliasOf(device: string): number {
    const alias = aliases.get(device) ?? aliases.size + 1;
    aliases.set(device, alias);
    return alias;
  }

  function write(draft: Draft): void {
    const { topic, qos, retain, payload } = alter(draft);
    const packet = { cmd: "publish", topic, qos, retain, dup: false, payload: encode(payload) } as const;
    send(qos === 0 ? packet : { ...packet, messageId: 1 });
  }

  function counted(type: Draft["type"], metrics: WrittenMetric[], device?: string): void {
    if (type === "NBIRTH") seq = 0;
    const payload = { timestamp: nowMs(), seq, metrics };
    seq = (seq + 1) % 256;
    write({ type, topic: topicOf(type, device), qos: 0, retain: false, payload });
  }

  const charge = (value: number | null): WrittenMetric =>
    value === null
      ? {
          isNull: true,
          properties: { keys: ["Quality"], values: [{ type: INT32, intValue: 500 }] },
        }
      : { intValue: value };
  const ofBirth = (device: string): WrittenMetric => ({
    ...{ name: CHARGE, alias: aliasOf(device), timestamp: nowMs(), datatype: INT32 },
    ...charge(50),
  });

  return {
    connect() {
      bdSeq = (bdSeq + 1) % 256;
      const will = alter({
        ...{ type: "will", topic: topicOf("NDEATH"), qos: 1, retain: false, payload: deathPayload() },
      });
      send({
        ...{
          cmd: "connect",
          clientId: nodeId,
          protocolId: "MQTT",
          protocolVersion: 4,
          clean: true,
          keepalive: 0,
        },
        will: { topic: will.topic, qos: will.qos, retain: will.retain, payload: encode(will.payload) },
      });
    },
    subscribe: (topics) =>
      send({ cmd: "subscribe", messageId: 1, subscriptions: topics.map((topic) => ({ topic, qos: 1 })) }),
    birth() {
      const rebirth = { name: "Node Control/Rebirth", datatype: BOOLEAN, booleanValue: false };
      counted("NBIRTH", [bdSeqMetric(), { ...rebirth, timestamp: nowMs() }, ofBirth("")]);
    },
    deviceBirth: (device) => counted("DBIRTH", [ofBirth(device)], device),
    data: (value, device) =>
      counted(
        device === undefined ? "NDATA" : "DDATA",
        [{ alias: aliasOf(device ?? ""), timestamp: nowMs(), ...charge(value) }],
        device,
      ),
    history: (value, device) =>
      counted(
        "DDATA",
        [{ alias: aliasOf(device), timestamp: nowMs() - 60_000, isHistorical: true, ...charge(value) }],
        device,
      ),
    deviceDeath: (device) => counted("DDEATH", [], device),
    leave() {
      write({ type: "NDEATH", topic: topicOf("NDEATH"), qos: 1, retain: false, payload: deathPayload() });
      send({ cmd: "disconnect" });
    },
  };
}

/** A NCMD of a host that asks for births. */
export function rebirthRequest(nowMs = Date.now()): Buffer {
  const name = "Node Control/Rebirth";
  return encode({
    timestamp: nowMs,
    metrics: [{ name, timestamp: nowMs, datatype: BOOLEAN, booleanValue: true }],
  });
}
