import type { Packet } from "mqtt-packet";
import { findDefects } from "../../../support/sparkplug/check.ts";
import {
  createEdgeNode,
  type Draft,
  type EdgeNode,
  groupId,
  nodeId,
  rebirthRequest,
} from "../../../support/sparkplug/edge-node.ts";
import type { Expected } from "../../../support/sparkplug/state.ts";
import { createRecording, type Recording } from "../../../support/sparkplug/wire.ts";

const NCMD = `spBv1.0/${groupId}/NCMD/${nodeId}`;
const STATE = "spBv1.0/STATE/scada";
export const CHARGE = "Battery/ChargePercent";

/** An edge node, and all that its broker sends to it. */
export interface Stage {
  readonly node: EdgeNode;
  readonly recording: Recording;
  /** A new connection, accepted. */
  connect(): void;
  receive(topic: string, payload: Buffer): void;
  state(online: boolean, timestamp: number): void;
  askRebirth(): void;
  /** The clock goes on. */
  pass(ms: number): void;
}

export type Alter = (draft: Draft) => Draft;

export function stage(alter?: Alter): Stage {
  let nowMs = 1_790_000_000_000;
  let connection = 0;
  const recording = createRecording(() => nowMs);
  const send = (packet: Packet) => recording.fromNode(connection, "broker", packet);
  const node = createEdgeNode({ send, nowMs: () => nowMs, ...(alter === undefined ? {} : { alter }) });
  const receive = (topic: string, payload: Buffer) =>
    recording.toNode(connection, { cmd: "publish", topic, payload, qos: 0, retain: false, dup: false });
  return {
    ...{ node, recording, receive },
    connect() {
      if (connection > 0) recording.closed(connection);
      connection = recording.open();
      node.connect();
      recording.toNode(connection, { cmd: "connack", returnCode: 0, sessionPresent: false });
      node.subscribe([NCMD, STATE]);
    },
    state: (online, timestamp) => receive(STATE, Buffer.from(JSON.stringify({ online, timestamp }))),
    askRebirth: () => receive(NCMD, rebirthRequest(nowMs)),
    pass(ms) {
      nowMs += ms;
    },
  };
}

/** The assertions that do not hold, without the prefix of all ids. */
export function idsOf({ recording }: Stage, expected: Partial<Expected> = {}): readonly string[] {
  recording.end();
  const found = findDefects(recording.events, { groupId, nodeId, ...expected });
  return [...new Set(found.map(({ id }) => id.replace("tck-id-", "")))];
}

/** A life with everything in it: two connections, rebirths, deaths, history, a sequence that wraps. */
export function live(on: Stage): Stage {
  const { node } = on;
  on.connect();
  bear(node);
  for (let count = 0; count < 300; count += 1) node.data(count % 100, "r1");
  node.data(null, "r1");
  node.deviceDeath("r2");
  on.pass(60_000);
  on.askRebirth();
  on.pass(10);
  bear(node);
  node.history(12, "r1");
  node.leave();
  on.connect();
  bear(node);
  node.data(77);
  node.leave();
  return on;
}

export function bear(node: EdgeNode): void {
  node.birth();
  node.deviceBirth("r1");
  node.deviceBirth("r2");
}

export const alterPayload =
  (type: Draft["type"], alter: (payload: Draft["payload"]) => Draft["payload"]): Alter =>
  (draft) =>
    draft.type === type ? { ...draft, payload: alter(draft.payload) } : draft;

export const alterMetric = (
  type: Draft["type"],
  name: string | null,
  change: Partial<NonNullable<Draft["payload"]["metrics"]>[number]>,
): Alter =>
  alterPayload(type, (payload) => ({
    ...payload,
    metrics: (payload.metrics ?? []).map((one) =>
      (one.name ?? null) === name ? { ...one, ...change } : one,
    ),
  }));

export const asDraft =
  (type: Draft["type"], change: Partial<Draft>): Alter =>
  (draft) =>
    draft.type === type ? { ...draft, ...change } : draft;
