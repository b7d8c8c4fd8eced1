import type { Metric, Payload } from "./payload.ts";
import type { Filter, Message, WireEvent } from "./wire.ts";

/** What the checker is told of the edge node. */
export interface Expected {
  readonly groupId: string;
  readonly nodeId: string;
  /** Null: the edge node waits for none. */
  readonly primaryHost: string | null;
  /** Brokers in the list of the edge node. */
  readonly brokers: number;
  /** Whether devices can be written to. */
  readonly hasDeviceCommands: boolean;
  /** Requests that come sooner after a birth may be answered together when this time is over. */
  readonly rebirthPaceMs: number;
  /** What is under way when the edge node is asked for something may still be seen for this time. */
  readonly graceMs: number;
}

/** A metric as its birth has defined it, with the last value that was said. */
export interface Defined {
  readonly name: string;
  readonly datatype: number | null;
  readonly alias: number | null;
  last: Metric;
}

/** The node or a device that is born. */
export interface Born {
  readonly byName: ReadonlyMap<string, Defined>;
  readonly byAlias: ReadonlyMap<number, Defined>;
}

export interface HostState {
  readonly isOnline: boolean;
  readonly timestamp: number;
}

/** What is known of the edge node before an event. */
export interface NodeState {
  connect: Extract<WireEvent, { kind: "connect" }> | null;
  previous: Extract<WireEvent, { kind: "connect" }> | null;
  /** Connections that are open and were not ended by a DISCONNECT. */
  readonly open: Set<number>;
  isAccepted: boolean;
  filters: readonly Filter[];
  /** The last sequence number on this connection. */
  seq: number | null;
  node: Born | null;
  readonly devices: Map<string, Born>;
  /** Ids of devices since the recording began. */
  readonly deviceIds: Set<string>;
  /** Devices that were alive before the last birth of the node, and have neither been born nor died since. */
  readonly missing: Set<string>;
  bornAtMs: number;
  /** A host asked for a birth that has not come yet. */
  askedAtMs: number | null;
  hasDied: boolean;
  /** The last valid state of the primary host on this connection. */
  host: HostState | null;
  /** The newest state of the primary host, by broker. */
  readonly newest: Map<string, number>;
  /** On this connection: a state of the primary host that is older than the newest one. */
  older: { readonly isOnline: boolean; readonly atMs: number } | null;
  otherHostIsOnline: boolean;
  offlineAtMs: number | null;
  /** The last connection was ended because the host was offline. */
  wasOffline: boolean;
}

export function newState(): NodeState {
  return {
    ...{ connect: null, previous: null, open: new Set(), ...freshConnection() },
    ...{ devices: new Map(), deviceIds: new Set(), missing: new Set(), newest: new Map() },
    wasOffline: false,
  };
}

function freshConnection() {
  return {
    ...{ isAccepted: false, filters: [], seq: null, node: null, bornAtMs: 0, askedAtMs: null },
    ...{ hasDied: false, host: null, older: null, otherHostIsOnline: false, offlineAtMs: null },
  };
}

export function bdSeqOf(payload: Payload | null): number | null {
  const value = payload?.metrics.find(({ name }) => name === "bdSeq")?.value;
  return typeof value === "number" ? value : null;
}

/** The state after an event, which the rules have seen. */
export function advance(state: NodeState, event: WireEvent, expected: Expected): void {
  switch (event.kind) {
    case "connect":
      state.open.add(event.connection);
      state.wasOffline = state.offlineAtMs !== null;
      Object.assign(state, freshConnection(), { previous: state.connect, connect: event });
      state.devices.clear();
      state.missing.clear();
      break;
    case "disconnect":
    case "close":
      state.open.delete(event.connection);
      if (event.connection === state.connect?.connection) state.askedAtMs = null;
      break;
    case "connack":
      state.isAccepted = event.isAccepted;
      break;
    case "subscribe":
      state.filters = [...state.filters, ...event.filters];
      break;
    case "receive":
      advanceByHost(state, event.message, event.atMs, expected);
      break;
    case "publish":
      advanceByNode(state, event.message, event.atMs);
      break;
  }
}

function advanceByNode(state: NodeState, { type, device, payload }: Message, atMs: number): void {
  if (payload === null) return;
  if (payload.seq !== null) state.seq = payload.seq;
  switch (type) {
    case "NBIRTH":
      for (const id of state.devices.keys()) state.missing.add(id);
      state.devices.clear();
      state.node = bornOf(payload);
      state.bornAtMs = atMs;
      state.askedAtMs = null;
      break;
    case "NDEATH":
      state.hasDied = true;
      break;
    case "DBIRTH":
      state.devices.set(device ?? "", bornOf(payload));
      state.deviceIds.add(device ?? "");
      state.missing.delete(device ?? "");
      break;
    case "DDEATH":
      state.devices.delete(device ?? "");
      state.missing.delete(device ?? "");
      break;
    case "NDATA":
    case "DDATA":
      for (const metric of payload.metrics) {
        const defined = definitionOf(bornFor(state, device), metric);
        if (defined !== null && !metric.isHistorical) defined.last = metric;
      }
  }
}

export function bornFor(state: NodeState, device: string | null): Born | null {
  return device === null ? state.node : (state.devices.get(device) ?? null);
}

/** Null: no birth has it. */
export function definitionOf(born: Born | null, { name, alias }: Metric): Defined | null {
  if (born === null) return null;
  return (alias === null ? born.byName.get(name ?? "") : born.byAlias.get(alias)) ?? null;
}

function bornOf({ metrics }: Payload): Born {
  const defined = metrics.map((metric): Defined => {
    const { name, datatype, alias } = metric;
    return { name: name ?? "", datatype, alias, last: metric };
  });
  return {
    byName: new Map(defined.map((one) => [one.name, one])),
    byAlias: new Map(defined.flatMap((one) => (one.alias === null ? [] : [[one.alias, one] as const]))),
  };
}

/** The `Node Control/Rebirth` of hosts, by which they ask for births. */
export const REBIRTH = "Node Control/Rebirth";

function advanceByHost(state: NodeState, message: Message, atMs: number, expected: Expected): void {
  if (message.type === "NCMD" && message.payload?.metrics.some(isRebirth) && state.node !== null)
    state.askedAtMs ??= atMs;
  if (message.type === "STATE") advanceByState(state, message, atMs, expected);
}

function isRebirth({ name, value }: Metric): boolean {
  return name === REBIRTH && value === true;
}

function advanceByState(
  state: NodeState,
  { levels, bytes }: Message,
  atMs: number,
  expected: Expected,
): void {
  const said = readHostState(bytes);
  if (said === null) return;
  if (levels.at(-1) !== expected.primaryHost) {
    if (said.isOnline) state.otherHostIsOnline = true;
    return;
  }
  const broker = state.connect?.broker ?? "";
  if (said.timestamp < (state.newest.get(broker) ?? said.timestamp)) {
    state.older = { isOnline: said.isOnline, atMs };
    return;
  }
  state.newest.set(broker, said.timestamp);
  if (!said.isOnline && state.node !== null) state.offlineAtMs ??= atMs;
  state.host = said;
}

function readHostState(bytes: Buffer): HostState | null {
  try {
    const { online, timestamp } = JSON.parse(bytes.toString()) ?? {};
    return typeof online === "boolean" && typeof timestamp === "number"
      ? { isOnline: online, timestamp }
      : null;
  } catch {
    // Anybody may publish anything there.
    return null;
  }
}
