import { z } from "zod";
import type { OutboxOptions } from "../../delivery/outbox/options.ts";
import type {
  EmbeddedBrokerOptions,
  ExternalBrokerOptions,
  MqttOptions,
} from "../../northbound/mqtt/options.ts";
import type { SparkplugOptions } from "../../northbound/mqtt/sparkplug/options.ts";
import { storedKinds } from "../../northbound/mqtt/sparkplug/options.ts";
import type { Placement } from "../../northbound/mqtt/topic-templates.ts";
import type { Live, Now } from "../../platform/live.ts";
import { count, file, flag, listen, live, milliseconds, url } from "../fields.ts";
import { pathText } from "../finding.ts";
import { fileAt, type NamedFiles, pairAt } from "../named-files.ts";
import type { OpcUaSection } from "./opcua.ts";

const commandsSection = z
  .strictObject({
    enabled: flag(true, "Whether the gateway takes commands from the broker; rights says from whom."),
    brokerEnforcesClientNames: flag(
      false,
      "true only if the plant's broker lets a client write under clients/<its own name> only; else no commands.",
    ),
    requireExpiry: flag(true, "Whether a command that moves a robot needs an expiry."),
    clientRate: z
      .strictObject({
        perSecond: count(
          1,
          10_000,
          200,
          "Commands of one client on average; beyond it RATE_LIMITED, but for stops.",
        ),
        burst: count(1, 100_000, 500, "The same at once, after a rest."),
      })
      .prefault({})
      .describe("Commands of one client."),
  })
  .prefault({})
  .describe("Commands from the broker.");

const outboxSection = z
  .strictObject({
    maxEvents: count(
      1,
      1_000_000,
      50_000,
      "Events of robots that wait for the broker, and as many of commands.",
    ),
    maxAgeMs: milliseconds(1_000, 31_536_000_000, 604_800_000, "Older ones, in running time, are dropped."),
    replayRate: count(1, 100_000, 10_000, "Old events a second after an outage."),
  })
  .prefault({})
  .describe("Events on the disk until the broker has them.");

const brokerSchemes = ["mqtt:", "mqtts:", "ws:", "wss:"];
const MOST_FALLBACKS = 8;

/** A name in the topics of Sparkplug. */
const sparkplugName = z.string().regex(/^[^/+#\0]{1,128}$/, {
  error: "use 1 to 128 characters, without /, + and #",
});

const sparkplugSection = z
  .strictObject({
    groupId: sparkplugName.describe("Sparkplug B 3.0, on a connection of its own: group of the edge node."),
    nodeId: sparkplugName.optional().describe("The edge node, unique in the group. Default: <gateway id>."),
    primaryHost: sparkplugName
      .optional()
      .describe("Host application for which births and data wait. Default: none."),
    legacyState: flag(false, "The primary host's state is on STATE/<id>, as before Sparkplug 3.0."),
    commands: flag(
      false,
      "Whether hosts may write Commands/Request; in rights they are sparkplug:<groupId>, at the embedded broker its users.",
    ),
    json: flag(true, "Whether the JSON topics, with events and commands, are there too."),
  })
  .optional()
  .describe("Sparkplug B.");

const placement = live(
  z
    .strictObject({
      robot: z
        .string()
        .min(1)
        .optional()
        .describe(
          "Beginning of a robot's topics in the plant's tree, as acme/munich/{robot}; {alias}: its alias of opcua.robots, or id. Default: <base>/robots/{robot}.",
        ),
      station: z
        .string()
        .min(1)
        .optional()
        .describe(
          "Beginning of a station's topics, as acme/munich/{place}/{station}; {place} is stations.<name>.place. Default: <base>/stations/{station}.",
        ),
    })
    .prefault({})
    .describe("The plant's topic tree."),
);

/** `mqtt:` the broker, what is published there, and how commands come from it. */
export const mqttSection = z
  .strictObject({
    broker: url(
      brokerSchemes,
      "embedded (a broker inside the gateway), mqtt://host:port, mqtts://host:port, ws://host:port/path or wss://host:port/path.",
      ["embedded"],
    ),
    fallbackBrokers: z
      .array(url(brokerSchemes, "The URL of a broker."))
      .min(1)
      .max(MOST_FALLBACKS)
      .optional()
      .describe("Further brokers, in this order, while those before them are away."),
    returnMs: milliseconds(
      1_000,
      86_400_000,
      60_000,
      "How long an earlier broker must be reachable before the gateway returns to it.",
    ),
    listen: listen(1883).optional(),
    users: z
      .record(
        z.string(),
        live(
          z.strictObject({
            password: file(
              "userPassword",
              "File of the password of a user of the embedded broker, or of its hash.",
            ),
          }),
        ),
      )
      .optional()
      .describe("Users of the embedded broker, by name."),
    anonymousLoopback: flag(false, "INSECURE, for a demo: programs of this machine need no password."),
    certificate: live(
      file("certificate", "Certificate and key of the embedded broker, for TLS (PEM files).").optional(),
      ["changed"],
    ),
    key: live(file("privateKey", "Its key (PEM file).").optional(), ["changed"]),
    username: z.string().min(1).optional().describe("User at the plant's broker."),
    password: file("password", "File of its password.").optional(),
    ca: live(file("certificate", "CA to trust instead of the system's (PEM file).").optional()),
    clientCertificate: live(
      file("certificate", "The gateway's certificate and key at the plant's broker (PEM files).").optional(),
    ),
    clientKey: live(file("privateKey", "Its key (PEM file).").optional()),
    clientId: z.string().min(1).max(128).optional().describe("Default: fleetgate-<gateway id>."),
    protocolVersion: z
      .literal([4, 5])
      .optional()
      .describe("4 is MQTT 3.1.1. Default: 5; the embedded broker has 4 only."),
    base: z
      .string()
      .regex(/^[^/+#\0](?:[^+#\0]*[^/+#\0])?$/, {
        error: "use a topic without + and #, and without / at its ends",
      })
      .optional()
      .describe("Beginning of every topic. Default: fleetgate/<gateway id>."),
    placement,
    stateQos: z.literal([0, 1]).default(0).describe("QoS of state. Events and replies have QoS 1."),
    refreshMs: milliseconds(
      1_000,
      3_600_000,
      60_000,
      "With MQTT 5 the gateway publishes state again after this time; it expires after three.",
    ),
    sparkplug: sparkplugSection,
    tags: flag(false, "Whether each value has a topic of its own too, for clients without JSON."),
    commands: commandsSection,
    outbox: outboxSection,
  })
  .describe("MQTT.");

export type MqttSection = z.output<typeof mqttSection>;

/** What the section and its files say, as the MQTT northbound wants it. */
export function mqttOptions(
  section: MqttSection,
  gatewayId: string,
  plant: Pick<Placement, "robots" | "stations">,
  files: NamedFiles,
): Now<MqttOptions> {
  const { clientRate: _intake, ...commands } = section.commands;
  return {
    broker: section.broker === "embedded" ? embedded(section, files) : external(section, files),
    protocolVersion: section.protocolVersion ?? (section.broker === "embedded" ? 4 : 5),
    base: section.base ?? `fleetgate/${gatewayId}`,
    gatewayId,
    clientId: section.clientId ?? `fleetgate-${gatewayId}`,
    placement: placementOf(section, plant),
    stateQos: section.stateQos,
    refreshMs: section.refreshMs,
    tags: section.tags,
    commands,
  };
}

/** The edge node of Sparkplug; null: it is off. */
export function sparkplugOptions(
  section: MqttSection | undefined,
  gatewayId: string,
  opcua: OpcUaSection | undefined,
): Now<SparkplugOptions> | null {
  if (section?.sparkplug === undefined) return null;
  const { groupId, nodeId = gatewayId, primaryHost = null, legacyState, commands, json } = section.sparkplug;
  const robots = Object.entries(opcua?.robots ?? {}).map(([robotId, { alias = null, number = null }]) => ({
    ...{ robotId, alias, number },
  }));
  return { groupId, nodeId, primaryHost, legacyState, commands, json, robots };
}

/** The queue of events for it, with the bounds of the other one; null: Sparkplug is off. */
export function sparkplugOutboxOptions(section: MqttSection | undefined): OutboxOptions | null {
  return section?.sparkplug === undefined ? null : { ...section.outbox, kinds: storedKinds };
}

/** The options of a running edge node: a reload adds robots. */
export function runningSparkplug(live: Live<Now<SparkplugOptions>>): SparkplugOptions {
  return { ...live.now(), robots: live.pick(({ robots }) => robots) };
}

/** The options of a running gateway, of which a reload changes some. */
export function runningMqtt(live: Live<Now<MqttOptions>>): MqttOptions {
  const { broker } = live.now();
  return {
    ...live.now(),
    broker: broker.kind === "embedded" ? runningEmbedded(broker, live) : runningExternal(broker, live),
    placement: live.pick(({ placement }) => placement),
  };
}

function runningEmbedded(
  first: Now<EmbeddedBrokerOptions>,
  live: Live<Now<MqttOptions>>,
): EmbeddedBrokerOptions {
  const broker = live.pick((mqtt) => (mqtt.broker.kind === "embedded" ? mqtt.broker : first));
  return { ...first, users: broker.pick(({ users }) => users), tls: broker.pick(({ tls }) => tls) };
}

function runningExternal(
  first: Now<ExternalBrokerOptions>,
  live: Live<Now<MqttOptions>>,
): ExternalBrokerOptions {
  const broker = live.pick((mqtt) => (mqtt.broker.kind === "external" ? mqtt.broker : first));
  return { ...first, tls: broker.pick(({ tls }) => tls), tlsPaths: broker.pick(({ tlsPaths }) => tlsPaths) };
}

/** Where robots and stations are, and which there are. */
export function placementOf(
  { placement: { robot, station } }: MqttSection,
  plant: Pick<Placement, "robots" | "stations">,
): Placement {
  return { robot: robot ?? null, station: station ?? null, ...plant };
}

function embedded(section: MqttSection, files: NamedFiles): Now<EmbeddedBrokerOptions> {
  const listening = section.listen ?? { host: "127.0.0.1", port: 1883 };
  return {
    kind: "embedded",
    host: listening.host,
    port: listening.port,
    anonymousLoopback: section.anonymousLoopback,
    users: Object.keys(section.users ?? {}).map((name) => ({
      name,
      password: fileAt(files, "mqtt", "users", name, "password")?.text ?? "",
    })),
    tls: pairAt(files, "mqtt"),
  };
}

function external(section: MqttSection, files: NamedFiles): Now<ExternalBrokerOptions> {
  const cert = text(files, "clientCertificate");
  const key = text(files, "clientKey");
  return {
    kind: "external",
    url: section.broker,
    setting: "mqtt.broker",
    fallbacks: (section.fallbackBrokers ?? []).map((url, index) => ({
      url,
      setting: pathText(["mqtt", "fallbackBrokers", index]),
    })),
    returnMs: section.returnMs,
    username: section.username ?? null,
    password: text(files, "password"),
    tls: { ca: text(files, "ca"), clientCert: cert !== null && key !== null ? { cert, key } : null },
    tlsPaths: {
      ca: path(files, "ca"),
      cert: path(files, "clientCertificate"),
      key: path(files, "clientKey"),
    },
  };
}

function text(files: NamedFiles, key: string): string | null {
  return fileAt(files, "mqtt", key)?.text ?? null;
}

function path(files: NamedFiles, key: string): string | null {
  return fileAt(files, "mqtt", key)?.path ?? null;
}
