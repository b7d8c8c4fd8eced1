import type { Packet } from "mqtt-packet";
import { decode, type Payload } from "./payload.ts";

/** A message on a topic of Sparkplug. */
export interface Message {
  readonly topic: string;
  /** The levels of the topic. */
  readonly levels: readonly string[];
  /** The third level; of a state of a host `STATE`. */
  readonly type: string;
  /** Null: the topic has no fifth level. */
  readonly device: string | null;
  readonly qos: number;
  readonly isRetained: boolean;
  readonly bytes: Buffer;
  /** Null: it is none. */
  readonly payload: Payload | null;
}

export interface Filter {
  readonly topic: string;
  readonly qos: number;
}

interface Facts {
  readonly connect: {
    readonly broker: string;
    readonly protocolVersion: number;
    readonly isClean: boolean;
    /** Null: MQTT 5 then takes 0. */
    readonly sessionExpiryS: number | null;
    readonly will: Message | null;
  };
  readonly connack: { readonly isAccepted: boolean };
  readonly subscribe: { readonly filters: readonly Filter[] };
  /** The edge node to its broker. */
  readonly publish: { readonly message: Message };
  /** The broker to the edge node. */
  readonly receive: { readonly message: Message };
  readonly disconnect: { readonly reasonCode: number };
  readonly close: object;
  /** The broker to a subscriber beside. */
  readonly deliver: { readonly message: Message };
  /** The recording ends. */
  readonly end: object;
}

/** One thing that was seen on the wire of an edge node, or beside. */
export type WireEvent = {
  readonly [K in keyof Facts]: {
    readonly kind: K;
    readonly atMs: number;
    /** Counted from 1; 0 is none. */
    readonly connection: number;
  } & Facts[K];
}[keyof Facts];

type NewFacts = { readonly [K in keyof Facts]: { readonly kind: K } & Facts[K] }[keyof Facts];

/** What was seen, in order. */
export interface Recording {
  readonly events: readonly WireEvent[];
  /** Begins a connection, and returns its number. */
  open(): number;
  /** A packet that the edge node sent. */
  fromNode(connection: number, broker: string, packet: Packet): void;
  /** A packet that the edge node was sent. */
  toNode(connection: number, packet: Packet): void;
  closed(connection: number): void;
  delivered(topic: string, bytes: Buffer, qos: number, isRetained: boolean): void;
  end(): void;
}

export function createRecording(nowMs: () => number = Date.now): Recording {
  const events: WireEvent[] = [];
  let connections = 0;
  const note = (connection: number, facts: NewFacts) =>
    void events.push({ atMs: nowMs(), connection, ...facts } as WireEvent);

  function fromNode(connection: number, broker: string, packet: Packet): void {
    switch (packet.cmd) {
      case "connect": {
        const { will, properties } = packet;
        note(connection, {
          kind: "connect",
          broker,
          protocolVersion: packet.protocolVersion ?? 4,
          isClean: packet.clean === true,
          sessionExpiryS: properties?.sessionExpiryInterval ?? null,
          will: will ? messageOf(will.topic, will.payload, will.qos ?? 0, will.retain === true) : null,
        });
        break;
      }
      case "subscribe":
        note(connection, {
          kind: "subscribe",
          filters: packet.subscriptions.map(({ topic, qos }) => ({ topic, qos })),
        });
        break;
      case "publish":
        note(connection, { kind: "publish", message: ofPublish(packet) });
        break;
      case "disconnect":
        note(connection, { kind: "disconnect", reasonCode: packet.reasonCode ?? 0 });
        break;
    }
  }

  return {
    events,
    open: () => {
      connections += 1;
      return connections;
    },
    fromNode,
    toNode(connection, packet) {
      if (packet.cmd === "connack")
        note(connection, {
          kind: "connack",
          isAccepted: (packet.returnCode ?? packet.reasonCode ?? 0) === 0,
        });
      else if (packet.cmd === "publish") note(connection, { kind: "receive", message: ofPublish(packet) });
    },
    closed: (connection) => note(connection, { kind: "close" }),
    delivered: (topic, bytes, qos, isRetained) =>
      note(0, { kind: "deliver", message: messageOf(topic, bytes, qos, isRetained) }),
    end: () => note(0, { kind: "end" }),
  };
}

function ofPublish({ topic, payload, qos, retain }: Packet & { cmd: "publish" }): Message {
  return messageOf(topic, payload, qos, retain);
}

function messageOf(topic: string, payload: Buffer | string, qos: number, isRetained: boolean): Message {
  const levels = topic.split("/");
  const isState = levels[0] === "STATE" || levels[1] === "STATE";
  const bytes = Buffer.from(payload);
  return {
    ...{ topic, levels, qos, isRetained, bytes },
    type: isState ? "STATE" : (levels[2] ?? ""),
    device: levels[4] ?? null,
    payload: isState ? null : decode(bytes),
  };
}
