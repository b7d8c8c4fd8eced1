import type { Metric, Payload } from "../payload.ts";
import { type Born, bornFor, type Expected, type NodeState } from "../state.ts";
import type { Message, WireEvent } from "../wire.ts";

/** An assertion of the standard (Sparkplug 3.0.0) that can be seen to hold or not on the wire. */
export interface Rule {
  /** Of the standard; those that begin with `fleetgate-` are ours. */
  readonly id: string;
  /** In our words. */
  readonly text: string;
  readonly check: Check;
}

/** What is wrong with an event, in words; null: nothing. The state is that before the event. */
export type Check = (event: WireEvent, state: NodeState, expected: Expected) => string | null;

/** A message that the edge node published, or registered as its last will. */
export interface Said {
  readonly message: Message;
  readonly payload: Payload;
  readonly state: NodeState;
  readonly expected: Expected;
  readonly atMs: number;
}

type CheckSaid = (said: Said) => string | null;

/** Types of messages that have a sequence number. */
export const COUNTED = ["NBIRTH", "NDATA", "DBIRTH", "DDATA", "DDEATH"];
export const BIRTHS = ["NBIRTH", "DBIRTH"];
export const DATA = ["NDATA", "DDATA"];

/** Looks at what the edge node publishes of these types. */
export function published(types: readonly string[], check: CheckSaid): Check {
  return (event, state, expected) => {
    if (event.kind !== "publish" || !types.includes(event.message.type)) return null;
    const { message, atMs } = event;
    if (message.payload === null) return `${message.topic}: no payload of Sparkplug B`;
    const found = check({ message, payload: message.payload, state, expected, atMs });
    return found === null ? null : `${message.topic}: ${found}`;
  };
}

/** Looks at the last will of each connection. */
export function will(check: CheckSaid): Check {
  return (event, state, expected) => {
    if (event.kind !== "connect") return null;
    const { will: message, atMs } = event;
    if (message === null) return "the edge node connects without a last will";
    if (message.payload === null) return "the last will is no payload of Sparkplug B";
    return check({ message, payload: message.payload, state, expected, atMs });
  };
}

/** NDEATH in both ways: as a last will, and published. */
export function death(check: CheckSaid): Check {
  const asWill = will(check);
  const said = published(["NDEATH"], check);
  return (event, state, expected) => asWill(event, state, expected) ?? said(event, state, expected);
}

/** A check of several types of messages, for these only. */
export function onlyOf(types: readonly string[], check: Check): Check {
  return (event, state, expected) =>
    event.kind === "publish" && types.includes(event.message.type) ? check(event, state, expected) : null;
}

/** Looks at each metric that the edge node publishes in messages of these types. */
export function metrics(
  types: readonly string[],
  check: (metric: Metric, said: Said & { readonly born: Born | null }) => string | null,
): Check {
  return published(types, (said) => {
    const born = bornFor(said.state, said.message.device);
    for (const metric of said.payload.metrics) {
      const found = check(metric, { ...said, born });
      if (found !== null) return `${nameOf(metric)}: ${found}`;
    }
    return null;
  });
}

function nameOf({ name, alias }: Metric): string {
  return name ?? (alias === null ? "a metric without name and alias" : `alias ${alias}`);
}

/** `check` in words: nothing is wrong if it holds. */
export function unless(holds: boolean, found: string): string | null {
  return holds ? null : found;
}

/** The topic of a message of this edge node. */
export function topicOf({ groupId, nodeId }: Expected, type: string, device: string | null = null): string {
  return `spBv1.0/${groupId}/${type}/${nodeId}${device === null ? "" : `/${device}`}`;
}

export const qosZero: CheckSaid = ({ message: { qos } }) => unless(qos === 0, `QoS ${qos} instead of 0`);

export const notRetained: CheckSaid = ({ message: { isRetained } }) => unless(!isRetained, "it is retained");

export const qosZeroNotRetained: CheckSaid = (said) => qosZero(said) ?? notRetained(said);

export const hasTimestamp: CheckSaid = ({ payload: { atMs } }) => unless(atMs !== null, "no timestamp");

/** 0 for the birth of the node; for others one more than the last, and 0 after 255. */
export const seqFollows: CheckSaid = ({ message, payload: { seq }, state }) => {
  const due = message.type === "NBIRTH" ? 0 : state.seq === null ? null : (state.seq + 1) % 256;
  if (seq === null) return "no sequence number";
  return unless(due === null || seq === due, `sequence number ${seq} instead of ${due}`);
};

export const hasSeq: CheckSaid = ({ payload: { seq } }) => {
  if (seq === null) return "no sequence number";
  return unless(seq >= 0 && seq <= 255, `sequence number ${seq}`);
};

export const noSeq: CheckSaid = ({ payload: { seq } }) => unless(seq === null, `sequence number ${seq}`);

/** Whether the topic is the one of this edge node and message type. */
export const ownTopic: CheckSaid = ({ message: { topic, type, device }, expected }) => {
  const due = topicOf(expected, type, type.startsWith("D") ? (device ?? "") : null);
  return unless(topic === due, `the topic is not ${due}`);
};
