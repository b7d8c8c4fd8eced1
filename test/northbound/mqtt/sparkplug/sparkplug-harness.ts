import mqtt, { type IPublishPacket, type MqttClient } from "mqtt";
import { get } from "sparkplug-payload";
import messages from "sparkplug-payload/lib/sparkplugPayloadProto.js";
import type { Commander } from "../../../../src/contracts/commander.ts";
import type { Permits } from "../../../../src/contracts/stations.ts";
import type { StateChange } from "../../../../src/domain/change.ts";
import type { Quality } from "../../../../src/domain/observed.ts";
import type { Leadership } from "../../../../src/northbound/mqtt/leadership.ts";
import { createSparkplugLink, type SparkplugLink } from "../../../../src/northbound/mqtt/sparkplug/link.ts";
import type { SparkplugOptions } from "../../../../src/northbound/mqtt/sparkplug/options.ts";
import { type Clock, systemClock } from "../../../../src/platform/clock.ts";
import { createLive } from "../../../../src/platform/live.ts";
import { type Log, silentLog } from "../../../../src/platform/log.ts";
import { createMemoryDisk, type MemoryDisk } from "../../../support/memory-tables.ts";
import { mqttOptions, recordingCommander } from "../mqtt-harness.ts";

const foreign = get("spBv1.0");
if (foreign === null) throw new Error("sparkplug-payload knows no spBv1.0");
const { decodePayload, encodePayload } = foreign;
const { Payload } = messages.org.eclipse.tahu.protobuf;
const dataTypes: Readonly<Record<string, number>> = {
  Int32: 3,
  Int64: 4,
  Double: 10,
  Boolean: 11,
  String: 12,
};

export const sparkplugOptions: SparkplugOptions = {
  groupId: "plant",
  nodeId: "fleet",
  primaryHost: null,
  legacyState: false,
  json: true,
  commands: false,
  robots: createLive([]),
};

export interface NodeChanges {
  readonly options?: Parameters<typeof mqttOptions>[0];
  readonly sparkplug?: Partial<SparkplugOptions>;
  readonly openBroker?: Parameters<typeof createSparkplugLink>[2]["openBroker"];
  readonly disk?: MemoryDisk;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly commander?: Pick<Commander, "submit">;
  readonly onDuplicate?: (active: boolean, text: string) => void;
  readonly leadership?: Leadership | null;
  readonly permitOf?: Permits["permitOf"];
}

export const noPermit: Permits["permitOf"] = () => ({ isRequired: false, isGiven: true, reason: "" });

/** An edge node of which each test says what is special to it. */
export function newNode({
  options = {},
  sparkplug = {},
  openBroker = null,
  disk = createMemoryDisk(),
  clock = systemClock,
  log = silentLog,
  commander = recordingCommander(),
  onDuplicate = () => {},
  leadership = null,
  permitOf = noPermit,
}: NodeChanges = {}): SparkplugLink {
  return createSparkplugLink(
    mqttOptions(options),
    { ...sparkplugOptions, ...sparkplug },
    {
      facts: {
        version: "1.2.3",
        builtAt: null,
        health: () => ({ fleet: { state: "up" } }),
        fleetLinkUp: () => true,
        permitOf,
      },
      ...{
        commander,
        openBroker,
        tables: disk.open(),
        leadership,
        onDuplicate,
        clock,
        log,
      },
    },
  );
}

/** A metric as the foreign decoder sees it. */
export interface SeenMetric {
  readonly name: string | null;
  readonly alias: number | null;
  readonly type: string | null;
  readonly value: unknown;
  readonly isNull: boolean;
  readonly isHistorical: boolean;
  readonly atMs: number;
  readonly quality: number | null;
  readonly unit: string | null;
}

/** A message of the edge node. */
export interface Seen {
  readonly type: string;
  /** Empty: the node's own. */
  readonly device: string;
  readonly seq: number | null;
  readonly metrics: readonly SeenMetric[];
  readonly packet: IPublishPacket;
}

/** A host application. */
export interface Host {
  readonly client: MqttClient;
  readonly seen: readonly Seen[];
  /** The first message, past or future, that the test accepts. */
  receive(test: (message: Seen) => boolean): Promise<Seen>;
  /** The first message of a type, of the device ("": of the node). */
  on(type: string, device?: string): Promise<Seen>;
  /** Asks for a rebirth. */
  askRebirth(): Promise<unknown>;
  /** What the host reconstructs: the metrics of a device by name, as births and data have said. */
  values(device: string): ReadonlyMap<string, SeenMetric>;
}

export async function openHost(url: string): Promise<Host> {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 0 }, false);
  const seen: Seen[] = [];
  const waiting = new Set<(message: Seen) => void>();
  const known = new Map<string, Map<string, SeenMetric>>();
  const names = new Map<number, { readonly device: string; readonly name: string; readonly type: string }>();
  client.on("message", (topic, payload, packet) => {
    const [, group, type = "", , device = ""] = topic.split("/");
    if (group === "STATE" || type.endsWith("CMD")) return;
    const message = { type, device, packet, ...read(payload, names) };
    seen.push(message);
    note(message, known, names);
    for (const look of waiting) look(message);
  });
  await client.subscribeAsync("spBv1.0/#", { qos: 1 });
  const receive: Host["receive"] = (test) => {
    const found = seen.find(test);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      const look = (message: Seen) => {
        if (!test(message)) return;
        waiting.delete(look);
        resolve(message);
      };
      waiting.add(look);
    });
  };
  return {
    client,
    seen,
    receive,
    on: (type, device = "") => receive((message) => message.type === type && message.device === device),
    askRebirth: () => client.publishAsync("spBv1.0/plant/NCMD/fleet", rebirthRequest()),
    values: (device) => known.get(device) ?? new Map(),
  };
}

function note(
  { type, device, metrics }: Seen,
  known: Map<string, Map<string, SeenMetric>>,
  names: Map<number, { readonly device: string; readonly name: string; readonly type: string }>,
): void {
  if (type.endsWith("BIRTH")) {
    known.set(device, new Map(metrics.map((metric) => [metric.name ?? "", metric])));
    for (const { alias, name, type: ofMetric } of metrics)
      if (alias !== null) names.set(alias, { device, name: name ?? "", type: ofMetric ?? "" });
    return;
  }
  for (const metric of metrics) {
    const name = metric.name ?? names.get(metric.alias ?? -1)?.name ?? "";
    if (!metric.isHistorical) known.get(device)?.set(name, metric);
  }
}

/** A NCMD as a host sends it. */
function rebirthRequest(): Buffer {
  return command([{ name: "Node Control/Rebirth", type: "Boolean", value: true }]);
}

export function command(metrics: NonNullable<Parameters<typeof encodePayload>[0]["metrics"]>): Buffer {
  return Buffer.from(encodePayload({ timestamp: Date.now(), metrics }));
}

/** The decoder wants a type in each metric; a host knows it from the birth. */
function read(
  payload: Uint8Array,
  names: ReadonlyMap<number, { readonly type: string }>,
): Pick<Seen, "seq" | "metrics"> {
  const message = Payload.decode(payload);
  for (const metric of message.metrics) {
    const known = names.get(Number(metric.alias));
    if (!metric.datatype && known !== undefined) metric.datatype = dataTypes[known.type] ?? 0;
  }
  const { seq, metrics } = decodePayload(Payload.encode(message).finish());
  return {
    seq: seq === undefined || seq === null ? null : Number(seq),
    metrics: (metrics ?? []).map((metric) => {
      const alias = metric.alias === undefined || metric.alias === null ? null : Number(metric.alias);
      const { properties } = metric;
      const quality = properties?.Quality?.value;
      return {
        name: metric.name ?? null,
        alias,
        type: metric.type ?? names.get(alias ?? -1)?.type ?? null,
        value: metric.value,
        isNull: metric.value === null,
        isHistorical: metric.isHistorical === true,
        atMs: Number(metric.timestamp),
        quality: quality === undefined ? null : Number(quality),
        unit: properties?.engUnit === undefined ? null : String(properties.engUnit.value),
      };
    }),
  };
}

export function robotChange(robotId: string, quality: Quality = "good"): StateChange {
  return { kind: "robot", robotId, family: "cart", quality };
}

const stamp = { sourceTimeMs: 1_750_000_000_000, sequence: 1, receivedAtMs: 1_750_000_000_100 };

export function batteryChange(
  robotId: string,
  chargePercent: number,
  quality: Quality = "good",
): StateChange {
  const value = { chargePercent, state: "STATE_CHARGING", chargeMethod: "CHARGE_METHOD_WIRED" } as const;
  return { kind: "battery", robotId, observed: { value, stamp, quality } };
}

export function conveyorChange(robotId: string, index: number): StateChange {
  const value = {
    index,
    operation: "OPERATION_STATE_ROLLING",
    payload: "PAYLOAD_STATE_LOADED",
    health: "HEALTH_STATE_OK",
    installation: "INSTALLATION_STATE_INSTALLED",
  } as const;
  return { kind: "conveyor", robotId, observed: { value, stamp, quality: "good" } };
}

export function placeChange(robotId: string, x: number, theta = 0): StateChange {
  const value = {
    amrId: 7,
    mapId: 3,
    position: "A1",
    stateId: "1",
    taskChainId: 0,
    info: { coordinate: { x, y: 0, theta } },
  };
  return { kind: "presence", robotId, observed: { value, stamp, quality: "good" } };
}
