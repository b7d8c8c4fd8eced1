import type { ClusterOptions } from "../../cluster/options.ts";
import type { Config } from "../../config/load.ts";
import { runningMqtt } from "../../config/sections/mqtt.ts";
import { brokerAddress } from "../../northbound/mqtt/client/dial.ts";
import { brokersOf, type MqttOptions } from "../../northbound/mqtt/options.ts";
import type { Peer } from "../../platform/connect-fault.ts";
import { createLive } from "../../platform/live.ts";
import { plain } from "../../platform/plain-text.ts";
import { bareHost } from "../../platform/url-host.ts";

/** The result of `fleetgate check --online` for one part. It contains no secret. */
export interface Part {
  /** As `token`, or with its key: `connection fleet.https`. */
  readonly part: string;
  readonly state: "ok" | "wrong" | "skipped";
  /** What is right, what is wrong, or why it was not tried. */
  readonly detail: string;
  /** What to do; empty: nothing. */
  readonly advice: string;
}

/** The longest that one try may take. */
export const TRY_MS = 5_000;

export function ok(part: string, detail: string, advice = ""): Part {
  return { part, state: "ok", detail, advice };
}

export function wrong(part: string, detail: string, advice: string): Part {
  return { part, state: "wrong", detail, advice };
}

export function skipped(part: string, detail: string, advice = ""): Part {
  return { part, state: "skipped", detail, advice };
}

/** For people: one line, and another one that begins with an arrow if there is something to do. */
export function partText({ part, state, detail, advice }: Part): string {
  const line = `  ${state.padEnd(8)} ${plain(`${part}: ${detail}`)}\n`;
  return advice === "" ? line : `${line}           → ${plain(advice)}\n`;
}

/** A host in the configuration, and its protocol. */
export interface Endpoint extends Peer {
  /** `proxy`, `mqtt`, `opcua` and `etcd` are without TLS. WebSocket counts as MQTT here. */
  readonly speaks: "grpc" | "https" | "proxy" | "mqtt" | "mqtts" | "opcua" | "etcd" | "etcds";
  /** Reached through `fleet.proxy`, which resolves its name too. */
  readonly isBehindProxy: boolean;
}

const standardPorts: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
};

/** Every host of the configuration that the gateway connects to. */
export function endpointsOf({ fleet, mqtt, opcua, cluster }: Config): readonly Endpoint[] {
  const isBehindProxy = fleet.proxyUrl !== null;
  const fleetKeys = { caKey: "fleet.ca", certificateKey: "fleet.clientCertificate", isBehindProxy };
  const isSameServer = new URL(fleet.authUrl).origin === new URL(fleet.httpsUrl).origin;
  return [
    ...(fleet.proxyUrl === null ? [] : [withoutTls("fleet.proxy.url", fleet.proxyUrl, "proxy")]),
    {
      key: "fleet.grpc.address",
      ...address(`https://${fleet.grpcAddress}`),
      speaks: "grpc" as const,
      ...fleetKeys,
    },
    { key: "fleet.https", ...address(fleet.httpsUrl), speaks: "https" as const, ...fleetKeys },
    ...(isSameServer
      ? []
      : [{ key: "fleet.authUrl", ...address(fleet.authUrl), speaks: "https" as const, ...fleetKeys }]),
    ...(mqtt === null
      ? []
      : brokersOf(runningMqtt(createLive(mqtt))).flatMap(({ broker }) => brokerEndpoint(broker))),
    ...(opcua?.reverseConnect ?? []).map((url, index) =>
      withoutTls(`opcua.reverseConnect[${index}]`, url, "opcua"),
    ),
    ...(cluster === null ? [] : cluster.etcd.endpoints.map((_, index) => etcdEndpoint(cluster, index))),
  ];
}

function etcdEndpoint({ etcd }: ClusterOptions, index: number): Endpoint {
  const common = {
    key: etcdKey(index),
    ...address(`https://${etcd.endpoints[index]}`),
    isBehindProxy: false,
  };
  return etcd.tls === null
    ? { ...common, speaks: "etcd", caKey: null, certificateKey: null }
    : { ...common, speaks: "etcds", caKey: "cluster.etcd.ca", certificateKey: "cluster.etcd.certificate" };
}

/** The key of an endpoint of etcd. */
export function etcdKey(index: number): string {
  return `cluster.etcd.endpoints[${index}]`;
}

function brokerEndpoint(broker: MqttOptions["broker"]): readonly Endpoint[] {
  if (broker.kind === "embedded") return [];
  const { url, setting } = broker;
  const common = { key: setting, ...brokerAddress(url), isBehindProxy: false };
  if (["mqtt:", "ws:"].includes(new URL(url).protocol))
    return [{ ...common, speaks: "mqtt", caKey: null, certificateKey: null }];
  return [{ ...common, speaks: "mqtts", caKey: "mqtt.ca", certificateKey: "mqtt.clientCertificate" }];
}

function withoutTls(key: string, url: string, speaks: Endpoint["speaks"]): Endpoint {
  return { key, ...address(url), speaks, caKey: null, certificateKey: null, isBehindProxy: false };
}

/** Host without brackets, and port. */
function address(url: string): { readonly host: string; readonly port: number } {
  const { protocol, hostname, port } = new URL(url);
  const host = bareHost(hostname);
  return { host, port: port === "" ? (standardPorts[protocol] ?? 443) : Number(port) };
}
